package segment

import (
	"errors"
	"sync/atomic"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
)

// region is everything of a segment that is mapped, pinned and unmapped
// together: the log and its indexes.
type region struct {
	pins
	log     []byte // published up to the segment's size
	offsets *index.Offsets
	times   *index.Times
	maps    []vfs.Mapping
	used    atomic.Int64 // the Cache's clock at the last acquire
	live    *atomic.Int64
}

// newRegion is one more region of the segment, with the owner's pin.
func (s *Segment) newRegion(log []byte, o *index.Offsets, t *index.Times, maps ...vfs.Mapping) *region {
	r := &region{log: log, offsets: o, times: t, maps: maps, live: &s.live}
	r.init()
	s.live.Add(1)
	return r
}

// unpin gives back one pin and unmaps at the last.
func (r *region) unpin() error {
	if !r.release() {
		return nil
	}
	return r.unmap()
}

func (r *region) unmap() error {
	var errs []error
	for _, m := range r.maps {
		errs = append(errs, m.Unmap())
	}
	r.maps, r.log = nil, nil
	r.live.Add(-1)
	return errors.Join(errs...)
}
