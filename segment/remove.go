package segment

import (
	"errors"
	"os"

	"github.com/seglog/seglog/internal/vfs"
)

// files are the endings of all files that a segment may have, in the order in
// which they are taken away: what is left of the others without the .log is an
// orphan, not a segment.
var files = []string{LogSuffix, IndexSuffix, TimeIndexSuffix, TxnIndexSuffix, SnapshotSuffix}

// Remove takes the segment out of use and unlinks its files. Pins keep their
// memory. An error is one of unlinking, which may be tried again.
func (s *Segment) Remove() error {
	s.letGo(s.Close())
	return s.unlink("")
}

// letGo reports what went wrong in giving back files and memory whose content
// is not wanted any more.
func (s *Segment) letGo(err error) {
	if err != nil {
		s.cfg.Logger.Warn("segment: letting go of what is to be removed", "file", s.Path(), "error", err)
	}
}

// Retire takes the segment out of use and renames its files to what recovery
// unlinks: RemoveRetired does, at some other time. Pins keep their memory.
func (s *Segment) Retire() error {
	s.letGo(s.Close())
	var errs []error
	for _, suffix := range files {
		name := path(s.cfg.Dir, s.base, suffix)
		errs = append(errs, vfs.SetAside(s.cfg.FS, name, name+DeletedSuffix))
	}
	return errors.Join(errs...)
}

// RemoveRetired unlinks the files that Retire renamed.
func (s *Segment) RemoveRetired() error { return s.unlink(DeletedSuffix) }

func (s *Segment) unlink(state string) error {
	var errs []error
	for _, suffix := range files {
		err := s.cfg.FS.Remove(path(s.cfg.Dir, s.base, suffix+state))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
