package segment

import (
	"errors"
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
	err := errors.Join(w.offsets.close(), w.times.close())
	s.facts = s.Facts()
	s.w = nil
	s.cfg.Cache.add(s)
	return err
}

// Trim adds the closing time entry and cuts the files of an active segment to
// their content. It may be appended to after that.
func (s *Segment) Trim() (err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	w := s.w
	if err := w.indexes.Close(); err != nil {
		return err
	}
	return errors.Join(
		w.offsets.cut(w.indexes.Offsets.Bytes()),
		w.times.cut(w.indexes.Times.Bytes()),
		w.log.cut(s.size.Load()))
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
// An error is final: what the kernel failed to write it may have dropped.
func (s *Segment) Sync() error {
	if s.file != nil {
		return s.file.Sync()
	}
	f, err := s.cfg.FS.OpenFile(s.Path(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncIndexes makes the index files durable. They are derived, so only a
// checkpoint that wants to believe them later needs it.
func (s *Segment) SyncIndexes() error {
	if s.w != nil {
		return errors.Join(s.w.offsets.file.Sync(), s.w.times.file.Sync())
	}
	var errs []error
	for _, suffix := range []string{IndexSuffix, TimeIndexSuffix} {
		f, err := s.cfg.FS.OpenFile(path(s.cfg.Dir, s.base, suffix), os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// CloseFile lets go of the descriptor of a sealed and synced segment.
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
		errs = append(errs, w.offsets.close(), w.times.close())
		s.w = nil
	}
	if r := s.leave(); r != nil {
		errs = append(errs, r.unpin())
	}
	return errors.Join(append(errs, s.CloseFile())...)
}

// Remove takes the segment out of use and unlinks its files, the .log first:
// what is left of the others after a crash is an orphan, not a segment. Pins
// keep their memory.
func (s *Segment) Remove() error {
	errs := []error{s.Close()}
	for _, suffix := range []string{LogSuffix, IndexSuffix, TimeIndexSuffix, TxnIndexSuffix, SnapshotSuffix} {
		err := s.cfg.FS.Remove(path(s.cfg.Dir, s.base, suffix))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
