package segment

import (
	"sync"
	"sync/atomic"
)

// Cache bounds how many sealed segments are mapped at once, and so the
// mappings and the address space of a log, or of many logs that share it.
// Descriptors it costs none: a mapping outlives the file it was made of.
//
// It evicts the least recently used, where use is told to the nearest mapping
// of another segment: a clock that ticks only when something is mapped costs
// readers a load and no shared store.
type Cache struct {
	limit int
	clock atomic.Int64

	mu struct {
		sync.Mutex
		mapped map[*Segment]struct{}
	}
}

// NewCache keeps at most limit sealed segments mapped; those in use are never
// unmapped, so pinned ones may exceed it.
func NewCache(limit int) *Cache {
	c := &Cache{limit: max(limit, 1)}
	c.mu.mapped = make(map[*Segment]struct{})
	return c
}

// touch marks a region as used now.
func (c *Cache) touch(r *region) {
	if now := c.clock.Load(); r.used.Load() != now {
		r.used.Store(now)
	}
}

// add takes note of a sealed segment that is now mapped, and evicts others.
// No segment's mu is held.
func (c *Cache) add(s *Segment) {
	c.clock.Add(1)
	c.mu.Lock()
	c.mu.mapped[s] = struct{}{}
	var victims []*Segment
	for len(c.mu.mapped) > c.limit {
		v := c.oldestLocked(s)
		if v == nil {
			break
		}
		delete(c.mu.mapped, v)
		victims = append(victims, v)
	}
	c.mu.Unlock()
	for _, v := range victims {
		v.evict()
	}
}

// oldestLocked is the least recently used segment but keep.
func (c *Cache) oldestLocked(keep *Segment) *Segment {
	var oldest *Segment
	var when int64
	for s := range c.mu.mapped {
		if s == keep {
			continue
		}
		r := s.region.Load()
		if r == nil { // unmapped by its owner in the meantime
			return s
		}
		if u := r.used.Load(); oldest == nil || u < when {
			oldest, when = s, u
		}
	}
	return oldest
}

// forget drops a segment that is being removed.
func (c *Cache) forget(s *Segment) {
	c.mu.Lock()
	delete(c.mu.mapped, s)
	c.mu.Unlock()
}

// Mapped is the number of sealed segments mapped through this cache.
func (c *Cache) Mapped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.mu.mapped)
}
