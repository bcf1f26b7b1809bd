package queue

import (
	"sync/atomic"
	"time"
)

// clock tells the time for the price of a difference: time.Now asks the system for
// two, the time of day and one that only goes forward. It follows the second, and the
// first from where it was set.
type clock struct{ from atomic.Pointer[time.Time] }

// set looks at the time of day, which may have been put right.
func (c *clock) set() {
	now := time.Now()
	c.from.Store(&now)
}

func (c *clock) now() time.Time {
	from := c.from.Load()
	return from.Add(time.Since(*from))
}
