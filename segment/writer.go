package segment

import (
	"errors"
	"math"
	"os"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// writer is what only an active segment has. The owner's lock guards it.
type writer struct {
	log     growing
	offsets growing
	times   growing
	indexes index.Writer
}

// Create makes a new active segment at base, removing files of that name that
// are there. Its names are durable after the directory is synced. If it fails
// nothing is left of it: an empty log is a segment, too, and would come between
// others once the offsets at base were appended elsewhere.
func Create(cfg *Config, base int64) (*Segment, error) {
	if err := cfg.unlink(base); err != nil {
		return nil, err
	}
	s, err := OpenActive(cfg, Empty(base), 0)
	if err != nil {
		return nil, errors.Join(err, cfg.unlink(base))
	}
	return s, nil
}

func (c *Config) unlink(base int64) error {
	var errs []error
	for _, suffix := range []string{LogSuffix, IndexSuffix, TimeIndexSuffix, TxnIndexSuffix} {
		if err := c.FS.Remove(path(c.Dir, base, suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// TrustAll says that all files of a segment are as its Facts say.
const TrustAll = math.MaxInt64

// OpenActive opens the newest segment for appending behind the f.Size bytes
// that are known to be whole batches. Its indexes are believed for the batches
// that start below trusted and derived from the log behind that, timestamps
// included; with TrustAll nothing is looked at.
func OpenActive(cfg *Config, f Facts, trusted int64) (_ *Segment, err error) {
	s := OpenSealed(cfg, f)
	w := new(writer)
	var opened []*growing
	defer func() {
		if err != nil {
			for _, g := range opened {
				err = errors.Join(err, g.unmap(), g.close())
			}
		}
	}()
	room := max(cfg.Bytes, f.Size)
	for _, part := range []struct {
		g        *growing
		suffix   string
		capacity int64
		step     int64
	}{
		{&w.log, LogSuffix, room, firstLogStep},
		{&w.offsets, IndexSuffix, cfg.indexCapacity(room, index.OffsetEntrySize), firstIndexStep},
		{&w.times, TimeIndexSuffix, cfg.indexCapacity(room, index.TimeEntrySize), firstIndexStep},
	} {
		if err := part.g.open(cfg.FS, path(cfg.Dir, f.Base, part.suffix), part.capacity, part.step); err != nil {
			return nil, err
		}
		opened = append(opened, part.g)
	}
	if err := s.resumeIndexes(w, trusted); err != nil {
		return nil, err
	}
	s.w, s.file = w, w.log.file
	s.region.Store(s.newRegion(w.log.mem, w.indexes.Offsets, w.indexes.Times, w.log.m, w.offsets.m, w.times.m))
	return s, nil
}

// indexCapacity is the memory of an index of a log of size bytes: what it needs
// and one entry more, within Kafka's limit.
func (c *Config) indexCapacity(size, entry int64) int64 {
	return min((size/c.IndexInterval+2)*entry, MaxIndexBytes/entry*entry)
}

// resumeIndexes continues the index files of a reopened segment.
func (s *Segment) resumeIndexes(w *writer, trusted int64) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	f, interval := s.facts, s.cfg.IndexInterval
	o := index.NewOffsets(s.base, w.offsets.mem, int(w.offsets.size/index.OffsetEntrySize))
	t := index.NewTimes(s.base, w.times.mem, int(w.times.size/index.TimeEntrySize))
	if trusted == TrustAll {
		w.indexes = index.NewWriter(interval, o, t, index.TimeEntry{Timestamp: f.MaxTime, Offset: f.MaxTimeAt})
		return nil
	}
	// Derived entries go behind the believed ones; make the room first, since
	// moving an index to the heap replaces its memory.
	entries := f.Size/interval + 2
	for _, g := range []struct {
		*growing
		entry int64
	}{{&w.offsets, index.OffsetEntrySize}, {&w.times, index.TimeEntrySize}} {
		if err := g.reserveOrHeap(min(entries*g.entry, int64(len(g.mem)))); err != nil {
			return err
		}
	}
	o = index.NewOffsets(s.base, w.offsets.mem, o.Check(min(f.Size, trusted), f.Next))
	t = index.NewTimes(s.base, w.times.mem, t.Check(f.Next))
	if o.Len() > 0 && !startsBatch(w.log.mem[:f.Size], o.Last()) {
		o = index.NewOffsets(s.base, w.offsets.mem, 0)
	}
	if t.Truncate(o.Last().Offset + 1); o.Len() == 0 || t.Len() == 1 && t.Last() == (index.TimeEntry{Offset: s.base}) {
		t = index.NewTimes(s.base, w.times.mem, 0) // padding looks like an entry of time 0
	}
	clear(w.offsets.mem[o.Bytes():w.offsets.size])
	clear(w.times.mem[t.Bytes():w.times.size])
	w.indexes = index.NewWriter(interval, o, t, t.Last())

	// Time entries are thinner, so the largest timestamp is only known up to
	// the batch of the last of them: the walk starts there.
	from, _ := o.Floor(t.Last().Offset)
	extendIndexes(&w.indexes, s.base, w.log.mem[:f.Size], from.Position)
	s.maxTime.Store(w.indexes.Max().Timestamp)
	if h, err := record.ParseHeader(w.log.mem[:f.Size]); err == nil { // damage is for its reader to meet
		s.firstTime.Store(h.MaxTimestamp)
	}
	return nil
}

// startsBatch says whether an index entry leads to the start of a batch that
// it can stand for.
func startsBatch(log []byte, e index.OffsetEntry) bool {
	b, err := record.Parse(log[e.Position:])
	return err == nil && b.BaseOffset <= e.Offset
}

// IndexFull says that no further entry fits an index: time to roll.
func (s *Segment) IndexFull() bool {
	return s.w.indexes.Offsets.Full() || s.w.indexes.Times.Full()
}

// Reserve makes sure that n more bytes of log and the index entries they may
// bring fit, growing the files where they do not. After an error, ENOSPC above
// all, the segment is as it was.
func (s *Segment) Reserve(n int64) error {
	w, pos := s.w, s.size.Load()
	end := pos + n
	if end > w.log.size {
		if err := w.log.reserve(end); err != nil {
			return err
		}
	}
	if end > w.log.prepared && n < writeFrom {
		if err := w.log.prepare(end); err != nil {
			return err
		}
	}
	var entries int64
	if w.indexes.Wants(pos) {
		entries = 1
	}
	if end := w.indexes.Offsets.Bytes() + entries*index.OffsetEntrySize; end > w.offsets.size {
		if err := w.offsets.reserve(end); err != nil {
			return err
		}
	}
	// One more than is added now: the closing entry must find its room taken.
	if end := w.indexes.Times.Bytes() + (entries+1)*index.TimeEntrySize; end > w.times.size {
		return w.times.reserve(end)
	}
	return nil
}

// writeFrom is the size from which a batch goes to the file by a write from the
// caller's buffer, which the mapping shows at once: as fast as storing to
// prepared pages, and then they need not be prepared.
const writeFrom = 64 << 10

// Append copies the encoded batch raw, whose header is h, to the end and
// publishes it at base. raw's base offset is set to it. Reserve has made the
// room. It returns vfs.ErrFault if the file was cut by someone else. After an
// error nothing is published.
func (s *Segment) Append(raw []byte, h *record.BatchHeader, base int64) (err error) {
	defer vfs.Unguard(vfs.Guard(), &err) // the indexes are mapped, too
	w, pos := s.w, s.size.Load()
	if err := w.put(raw, pos, base); err != nil {
		return err
	}
	last := base + int64(h.LastOffsetDelta)
	if err := w.indexes.Add(index.Batch{Position: pos, LastOffset: last, MaxTimestamp: h.MaxTimestamp}); err != nil {
		return err
	}
	if pos == 0 {
		s.firstTime.Store(h.MaxTimestamp)
	}
	s.maxTime.Store(w.indexes.Max().Timestamp)
	s.next.Store(last + 1)
	s.size.Store(pos + int64(len(raw)))
	return nil
}

// put stores the bytes of a batch. The base offset, which no checksum covers,
// is stored last: a process that reads along, or recovery after a kill, sees a
// batch whose offset does not follow rather than one in the wrong place.
func (w *writer) put(raw []byte, pos, base int64) (err error) {
	record.SetBaseOffset(raw, base)
	if end := pos + int64(len(raw)); len(raw) >= writeFrom {
		_, err := w.log.file.WriteAt(raw, pos)
		w.log.prepared = max(w.log.prepared, end)
		return err
	}
	dst := w.log.mem[pos : pos+int64(len(raw))]
	copy(dst[8:], raw[8:])
	record.SetBaseOffset(dst, base)
	return nil
}
