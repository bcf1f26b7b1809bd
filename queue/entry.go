package queue

import (
	"container/heap"
	"slices"
	"time"
)

// entry is a message that was looked at and is not done. Once it is, it stands for
// another: who has a Message knows by the number of its delivery, which none has twice.
type entry struct {
	offset     int64
	deliveries int
	key        string
	keyed      bool // in keys
	out        bool
	at         time.Time      // when it is back, if out, or due
	delivery   uint64         // the last one; 0 once that is over
	slot       int            // in its block's delivered, from 1 on; 0 is not there
	heap       heap.Interface // ready or timed; nil if it is in neither
	index      int
}

// mostFree is how many entries are kept to be used again.
const mostFree = 1024

// entryLocked begins an entry.
func (c *consumer) entryLocked(offset int64) *entry {
	c.met++
	last := len(c.free) - 1
	if last < 0 {
		return &entry{offset: offset}
	}
	e := c.free[last]
	c.free = c.free[:last]
	*e = entry{offset: offset}
	return e
}

// dropLocked forgets an entry, and lets the next of its key go.
func (c *consumer) dropLocked(e *entry) {
	take(e)
	c.blocks.remove(e)
	if e.keyed {
		c.unkeyLocked(e)
	}
	c.met--
	if e.delivery = 0; len(c.free) < mostFree {
		c.free = append(c.free, e)
	}
}

func (c *consumer) unkeyLocked(e *entry) {
	list := c.keys[e.key]
	i := slices.Index(list, e)
	if i == 0 {
		list[0], list = nil, list[1:]
	} else {
		list = slices.Delete(list, i, i+1)
	}
	if c.keys[e.key] = list; len(list) == 0 {
		delete(c.keys, e.key)
	} else if i == 0 {
		c.timeLocked(list[0])
	}
}

// timeLocked has an entry delivered when it is due.
func (c *consumer) timeLocked(e *entry) {
	if e.at.After(c.q.opts.Env.Now()) {
		put(&c.timed, e)
	} else {
		put(&c.ready, e)
	}
	c.changed()
}
