package segment

import (
	"errors"
	"fmt"
	"os"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// mapIndexes maps both index files of a sealed segment. Any error means that
// the indexes have to be rebuilt; the mappings made are returned all the same.
func (s *Segment) mapIndexes() (_ *index.Offsets, _ *index.Times, maps []vfs.Mapping, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	open := func(suffix string, entry int64) ([]byte, int, error) {
		mem, m, err := mapWhole(s.cfg.FS, s.present(suffix), entry)
		if m != nil {
			maps = append(maps, m)
		}
		return mem, len(mem) / int(entry), err
	}
	mem, n, err := open(IndexSuffix, index.OffsetEntrySize)
	if err != nil {
		return nil, nil, maps, err
	}
	offsets := index.NewOffsets(s.base, mem, n)
	if ok := offsets.Check(s.facts.Size, s.facts.Next); s.growing {
		offsets = index.NewOffsets(s.base, mem, ok)
	} else if ok != n {
		return nil, nil, maps, fmt.Errorf("entry %d of %d in the offset index cannot be true", ok, n)
	}
	mem, n, err = open(TimeIndexSuffix, index.TimeEntrySize)
	if err != nil {
		return nil, nil, maps, err
	}
	times := index.NewTimes(s.base, mem, n)
	if ok := times.Check(s.facts.Next); s.growing {
		times = index.NewTimes(s.base, mem, ok)
	} else if ok != n {
		return nil, nil, maps, fmt.Errorf("entry %d of %d in the time index cannot be true", ok, n)
	}
	return offsets, times, maps, nil
}

// mapWhole maps a file of whole entries; an empty one is no memory at all.
func mapWhole(fs vfs.FS, name string, entry int64) ([]byte, vfs.Mapping, error) {
	f, err := fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	size, err := f.Size()
	switch {
	case err != nil:
		return nil, nil, err
	case size%entry != 0:
		return nil, nil, fmt.Errorf("%s: %d bytes are no whole number of %d-byte entries", name, size, entry)
	case size == 0:
		return nil, nil, nil
	}
	m, err := f.Map(size, false)
	if err != nil {
		return nil, nil, err
	}
	return m.Bytes(), m, nil
}

// rebuildIndexes derives both indexes of a sealed segment from its log, and
// writes them out where this process may write.
func (s *Segment) rebuildIndexes(log []byte) (*index.Offsets, *index.Times, error) {
	w, err := deriveIndexes(s.facts, log, s.cfg.IndexInterval)
	if err == nil && !s.cfg.ReadOnly {
		_ = s.cfg.writeIndexes(s.base, w) // they serve from memory
	}
	return w.Offsets, w.Times, err
}

// writeIndexes replaces the index files of a sealed segment. Failing to is no
// fault of the log, and leaves none: they are derived again. The error is that
// what was there could not even be removed.
func (c *Config) writeIndexes(base int64, w index.Writer) error {
	var errs []error
	for _, part := range []struct {
		suffix  string
		content []byte
	}{{IndexSuffix, w.Offsets.Content()}, {TimeIndexSuffix, w.Times.Content()}} {
		name := path(c.Dir, base, part.suffix)
		if err := vfs.WriteFile(c.FS, name, part.content); err != nil {
			c.Logger.Warn("segment: a derived index could not be written", "segment", base, "error", err)
			if err := c.FS.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// Reindex derives the index files of a sealed segment, which is not in use,
// from its log.
func Reindex(cfg *Config, f Facts) error {
	if f.Size == 0 {
		return nil
	}
	log, err := mapFile(cfg.FS, path(cfg.Dir, f.Base, LogSuffix), f.Size)
	if err != nil {
		return err
	}
	w, err := deriveIndexes(f, log.Bytes(), cfg.IndexInterval)
	if err == nil {
		err = cfg.writeIndexes(f.Base, w)
	}
	return errors.Join(err, log.Unmap())
}

// deriveIndexes walks the batches of a whole log and builds its indexes in heap
// memory.
func deriveIndexes(f Facts, log []byte, interval int64) (w index.Writer, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	room := int64(len(log))/interval + 2
	w = index.NewWriter(interval,
		index.NewOffsets(f.Base, make([]byte, room*index.OffsetEntrySize), 0),
		index.NewTimes(f.Base, make([]byte, room*index.TimeEntrySize), 0),
		index.TimeEntry{Timestamp: -1, Offset: f.Base})
	extendIndexes(&w, f, log, 0)
	return w, w.Close()
}

// extendIndexes walks the batches of log from the one at position on, verifies
// them, and adds to the indexes what they do not have yet. Damage is passed over, a
// batch of another segment too: nothing leads to it.
func extendIndexes(w *index.Writer, f Facts, log []byte, position int64) {
	known := w.Offsets.Last().Offset
	if w.Offsets.Len() == 0 {
		known--
	}
	next := f.Base
	for pos := position; pos < int64(len(log)); {
		h, err := record.Parse(log[pos:])
		bad := pos
		if err == nil {
			bad, err = CheckOrder(log, &h.BatchHeader, pos, next, f.Next)
		}
		if err != nil {
			again, at, ok := Resync(log, bad, next, f.Next)
			if !ok {
				return
			}
			next, pos = again.BaseOffset, at
			continue
		}
		b := index.Batch{Position: pos, LastOffset: h.LastOffset(), MaxTimestamp: h.MaxTimestamp}
		if b.LastOffset <= known || w.Offsets.Full() || w.Times.Full() {
			w.Observe(b) // a full index leaves the rest to the scan
		} else if w.Add(b) != nil {
			return
		}
		next, pos = h.NextOffset(), pos+int64(h.Size)
	}
}
