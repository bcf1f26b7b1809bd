package segment

import (
	"errors"
	"io"
	"os"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// FactsBelow describes the segment without the batch that holds offset, or the
// first behind it, and all that follows; batches are cut whole.
func (s *Segment) FactsBelow(offset int64) (Facts, error) {
	p, err := s.Pin()
	if err != nil {
		return Facts{}, err
	}
	defer p.Release()
	return p.factsBelow(offset)
}

// TruncateTo takes the segment out of use and cuts its log to what FactsBelow
// described; those facts are what to open it by, with no index believed. When
// it returns nil the cut is durable, so that nothing of what was cut can come
// back among later appends.
//
// Readers that have the segment pinned keep seeing the old bytes: the kept
// part is then copied to a new file that takes the old one's name.
func (s *Segment) TruncateTo(f Facts) error {
	p, err := s.Pin()
	if err != nil {
		return err
	}
	s.letGo(s.Close()) // p keeps the memory
	// No region is made any more. If the only one is p's and p alone has it
	// pinned, nobody can see the file's memory.
	if s.live.Load() == 1 && p.r.seize() {
		s.letGo(p.r.unmap())
		return s.cutInPlace(f.Size)
	}
	defer p.Release()
	return p.replaceByPrefix(f.Size)
}

// factsBelow describes the segment without the batch that holds offset and all
// behind it. What timestamps are left is for OpenActive to find.
func (p Pin) factsBelow(offset int64) (f Facts, err error) {
	defer p.faulted(offset, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	f = Empty(p.s.base)
	f.Size, _, err = p.find(offset, nil)
	if err != nil && err != io.EOF {
		return f, err
	}
	if f.Size == 0 {
		return f, nil
	}
	entry, _, slot := p.floor(offset, f.Size)
	pos := entry.Position
	if _, leads, exact := p.leads(entry, slot); slot < 0 || !leads || !exact {
		pos = 0
	}
	for pos < f.Size {
		h, err := record.ParseHeader(p.r.log[pos:f.Size])
		if err != nil {
			return f, p.damage(pos, pos, f.Next, err)
		}
		f.Next, pos = h.NextOffset(), pos+int64(h.Size)
	}
	return f, nil
}

// cutInPlace cuts a file that nobody has mapped.
func (s *Segment) cutInPlace(size int64) error {
	f, err := s.cfg.FS.OpenFile(s.Path(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// replaceByPrefix puts a copy of the first size bytes in the log's place. The
// indexes, mapped by readers too, are unlinked and derived anew.
func (p Pin) replaceByPrefix(size int64) (err error) {
	defer p.faulted(p.s.base, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	cfg, base := p.s.cfg, p.s.base
	for _, suffix := range []string{IndexSuffix, TimeIndexSuffix} {
		if err := cfg.FS.Remove(path(cfg.Dir, base, suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return vfs.WriteFile(cfg.FS, p.s.Path(), p.r.log[:size])
}
