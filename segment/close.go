package segment

import (
	"errors"
	"fmt"
	"os"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/internal/vfs"
)

// Seal ends the appends: the closing time entry is added and the files are cut
// to what they hold. The segment stays mapped as it is until it is evicted.
// What the segment was is kept by Facts; it is durable after Sync.
//
// If it fails the segment is still active.
func (s *Segment) Seal() error {
	w := s.w
	if err := s.Trim(); err != nil {
		return err
	}
	if err := errors.Join(w.offsets.close(), w.times.close()); err != nil {
		// What they hold is made durable by SyncIndexes, through other descriptors.
		s.cfg.Logger.Warn("segment: closing an index", "segment", s.base, "error", err)
	}
	s.facts = s.Facts()
	s.w = nil
	s.cfg.Cache.add(s)
	return nil
}

// Trim adds the closing time entry and cuts the files of an active segment to
// their content. An index that had no room is written now, if there is some. The
// segment may be appended to after that.
func (s *Segment) Trim() (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	w := s.w
	s.indexed(w.indexes.Close())
	s.writeHeap(&w.offsets, IndexSuffix, w.indexes.Offsets.Content())
	s.writeHeap(&w.times, TimeIndexSuffix, w.indexes.Times.Content())
	return errors.Join(
		w.offsets.cut(w.indexes.Offsets.Bytes()),
		w.times.cut(w.indexes.Times.Bytes()),
		w.log.cut(s.size.Load()))
}

// writeHeap gives an index that is in the heap its file. Failing to is no fault of
// the log: the index is derived when the segment is opened again.
func (s *Segment) writeHeap(g *growing, suffix string, content []byte) {
	if !g.heap {
		return
	}
	name := path(s.cfg.Dir, s.base, suffix)
	var err error
	if g.file == nil {
		err = vfs.WriteFile(s.cfg.FS, name, content)
	} else if _, err = g.file.WriteAt(content, 0); err != nil {
		err = errors.Join(err, g.file.Truncate(0))
	}
	if err != nil {
		s.cfg.Logger.Warn("segment: an index could not be written", "file", name, "error", err)
	}
}

// Untidy says that an active segment's indexes are not what was there when it
// was opened, so that its files want a Trim though nothing was appended.
func (s *Segment) Untidy() bool {
	return s.w != nil && (s.w.derived || s.w.offsets.heap || s.w.times.heap)
}

// Facts are those of a sealed segment, or of an active one as it is now, whose
// owner alone may ask.
func (s *Segment) Facts() Facts {
	f := s.facts
	if w := s.w; w != nil {
		m := w.indexes.Max()
		f.HasSeal = false
		f.Next, f.Size = s.next.Load(), s.size.Load()
		f.IndexBytes, f.TimeBytes = w.indexes.Offsets.Bytes(), w.indexes.Times.Bytes()
		f.FirstTime, f.MaxTime, f.MaxTimeAt = s.firstTime.Load(), m.Timestamp, m.Offset
	}
	return f
}

// Sync makes what was published before the call durable. A sealed segment lets
// go of its file then. It may run beside Append, but not beside itself.
//
// ErrNotSynced is final; after another error, of opening the file, it may be
// tried again.
func (s *Segment) Sync() error {
	if s.file != nil {
		s.synced.Store(s.size.Load())
		err := s.file.Sync()
		if err == nil && vfs.Removed(s.file) { // which a sync does not mind
			err = fmt.Errorf("somebody removed %s: %w", s.Path(), os.ErrNotExist)
		}
		return synced(err)
	}
	f, err := s.cfg.FS.OpenFile(s.Path(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(synced(f.Sync()), f.Close())
}

// SyncIndexes makes the index files durable. They are derived, so only a
// checkpoint that wants to believe them later needs it.
func (s *Segment) SyncIndexes() error {
	if s.w != nil {
		return synced(errors.Join(s.w.offsets.sync(), s.w.times.sync()))
	}
	var errs []error
	for _, suffix := range []string{IndexSuffix, TimeIndexSuffix} {
		f, err := s.cfg.FS.OpenFile(path(s.cfg.Dir, s.base, suffix), os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(synced(f.Sync()), f.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// CloseFile lets go of the descriptor of a sealed and synced segment. It is gone
// after an error, too.
func (s *Segment) CloseFile() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// Sum is the xxhash64 of the published log, which of a sealed segment is its
// seal.
func (s *Segment) Sum() (sum uint64, err error) {
	p, err := s.Pin()
	if err != nil {
		return 0, err
	}
	defer p.Release()
	defer p.faulted(s.base, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	return xxhash.Sum64(p.r.log[:p.size]), nil
}

// Close ends the segment's use by this process: nothing new can be pinned,
// files are closed as they are, and memory is unmapped once the last pin is
// gone. An active segment that is to stay as it is wants Trim before.
func (s *Segment) Close() error {
	var errs []error
	if w := s.w; w != nil {
		w.log.settle()
		errs = append(errs, w.offsets.close(), w.times.close())
		s.w = nil
	}
	if r := s.leave(); r != nil {
		errs = append(errs, r.unpin())
	}
	return errors.Join(append(errs, s.CloseFile())...)
}
