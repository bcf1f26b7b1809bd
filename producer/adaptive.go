package producer

import (
	"math/rand/v2"
	"sync/atomic"
)

// choice is the partition that records without one go to for a while (KIP-794).
type choice struct {
	partition int32
	produced  atomic.Int64 // bytes put there since it was chosen
}

// choose is the present choice of a topic.
func (t *topic) choose(acc *accumulator, known *partitions) *choice {
	for {
		if c := t.choice.Load(); c != nil && int(c.partition) < known.Partitions {
			return c
		} else if next := (&choice{partition: acc.nextPartition(known)}); t.choice.CompareAndSwap(c, next) {
			return next
		}
	}
}

// produced counts bytes put where c chose, and makes another choice once they
// are a batch's worth and the batch there is full, or two batches' worth.
func (t *topic) produced(acc *accumulator, known *partitions, c *choice, bytes int64, full bool) {
	n, batch := c.produced.Add(bytes), acc.pool.unit
	if n >= 2*batch || full && n >= batch {
		t.choice.CompareAndSwap(c, &choice{partition: acc.nextPartition(known)})
	}
}

// nextPartition chooses among the available partitions: those with fewer
// batches waiting are likelier, in proportion to how many fewer than one more
// than the longest queue.
func (a *accumulator) nextPartition(known *partitions) int32 {
	from := known.Available
	switch {
	case len(from) == 0:
		return rand.Int32N(int32(known.Partitions))
	case len(from) == 1:
		return from[0]
	}
	longest, total := int32(0), int64(0)
	weigh := func(n int32) int64 {
		if a.nodes.shunned(known.leaders[n].Leader) {
			return 0
		}
		return int64(longest + 1 - min(known.queues[n].waiting.Load(), longest))
	}
	for _, n := range from {
		longest = max(longest, known.queues[n].waiting.Load())
	}
	for _, n := range from {
		total += weigh(n)
	}
	if total == 0 {
		return from[rand.IntN(len(from))]
	}
	// The queues may have changed since: then the last one will do.
	at := rand.Int64N(total)
	for _, n := range from {
		if at -= weigh(n); at < 0 {
			return n
		}
	}
	return from[len(from)-1]
}
