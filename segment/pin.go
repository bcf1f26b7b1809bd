package segment

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// Pin holds a segment's memory mapped. It is good for one goroutine and must
// be released once.
type Pin struct {
	s    *Segment
	r    *region
	size int64 // what was published when the pin was taken
}

// Pin maps the segment if it is not mapped and holds it so until Release.
// ErrGone says that the segment has left the log: look the offset up again.
func (s *Segment) Pin() (Pin, error) {
	for {
		r := s.region.Load()
		if r == nil {
			var err error
			if r, err = s.load(); err != nil {
				return Pin{}, err
			}
		}
		if r.acquire() {
			s.cfg.Cache.touch(r)
			return Pin{s: s, r: r, size: s.size.Load()}, nil
		}
	}
}

// Release gives the memory back.
func (p Pin) Release() {
	if err := p.r.unpin(); err != nil {
		p.s.cfg.Logger.Error("segment: unmapping failed", "file", p.s.Path(), "error", err)
	}
}

// Size is the length of the log this pin sees.
func (p Pin) Size() int64 { return p.size }

// Refresh makes the pin see what was published since.
func (p *Pin) Refresh() { p.size = p.s.size.Load() }

// load maps a sealed segment; it returns the region, with the owner's pin only.
func (s *Segment) load() (*region, error) {
	s.mu.Lock()
	if r := s.region.Load(); r != nil || s.mu.gone {
		s.mu.Unlock()
		if r == nil {
			return nil, ErrGone
		}
		return r, nil
	}
	r, err := s.mapSealed()
	if err == nil {
		s.region.Store(r)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s.cfg.Cache.add(s)
	return r, nil
}

// evict unmaps a sealed segment as soon as nobody has it pinned.
func (s *Segment) evict() {
	s.mu.Lock()
	r := s.region.Swap(nil)
	s.mu.Unlock()
	if r != nil {
		if err := r.unpin(); err != nil {
			s.cfg.Logger.Error("segment: unmapping failed", "file", s.Path(), "error", err)
		}
	}
}

// leave makes the segment gone for new readers, and returns the region if
// there is one, whose owner's pin the caller now has.
func (s *Segment) leave() *region {
	s.mu.Lock()
	s.mu.gone = true
	r := s.region.Swap(nil)
	s.mu.Unlock()
	s.cfg.Cache.forget(s)
	return r
}

// mapSealed maps the three files of a sealed segment. An index that is not
// wholly true of the log is rebuilt.
func (s *Segment) mapSealed() (*region, error) {
	f := s.facts
	if f.Size == 0 {
		return s.newRegion(nil, index.NewOffsets(s.base, nil, 0), index.NewTimes(s.base, nil, 0)), nil
	}
	log, err := mapFile(s.cfg.FS, s.present(LogSuffix), f.Size)
	if err != nil {
		return nil, s.mapError(err)
	}
	maps := []vfs.Mapping{log}
	offsets, times, idx, err := s.mapIndexes()
	maps = append(maps, idx...)
	if err != nil {
		s.cfg.Logger.Warn("segment: rebuilding an index", "segment", s.base, "reason", err)
		offsets, times, err = s.rebuildIndexes(log.Bytes())
	}
	r := s.newRegion(log.Bytes(), offsets, times, maps...)
	if err != nil {
		_ = r.unmap()
		return nil, s.mapError(err)
	}
	return r, nil
}

func (s *Segment) mapError(err error) error {
	missing := os.IsNotExist(err)
	switch {
	case missing && s.cfg.ReadOnly:
		return ErrGone // the process that writes here has removed it
	case missing || errors.Is(err, vfs.ErrFault):
		err = fmt.Errorf("%w: %w", record.ErrCorrupt, err)
	case !errors.Is(err, record.ErrCorrupt):
		return err // that it cannot be mapped now says nothing of the file
	}
	return &DamageError{Path: s.Path(), Segment: s.base, Offset: s.base, Next: -1, Err: err}
}

// faulted makes damage of a fault: bytes at or above offset that are not there.
// It is deferred before the Unguard that it looks at.
func (p Pin) faulted(offset int64, err *error) {
	if *err != nil && *err != io.EOF {
		p.describe(offset, err)
	}
}

// describe is apart so that the way without an error allocates nothing.
func (p Pin) describe(offset int64, err *error) {
	var fault *vfs.FaultError
	if !errors.As(*err, &fault) {
		return
	}
	position, ok := fault.Position(p.r.log)
	if !ok {
		position = 0
	}
	*err = &DamageError{Path: p.s.Path(), Segment: p.s.base, Position: position, Offset: offset, Next: -1,
		Err: fmt.Errorf("%w: %w", record.ErrCorrupt, fault)}
}

// mapFile maps the first size bytes of a file, which must have them.
func mapFile(fs vfs.FS, name string, size int64) (vfs.Mapping, error) {
	f, err := fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if got, err := f.Size(); err != nil {
		return nil, err
	} else if got < size {
		return nil, fmt.Errorf("%w: %s has %d bytes of %d", record.ErrCorrupt, name, got, size)
	}
	return f.Map(size, false)
}
