package producer

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seglog/seglog/record"
)

// queue is the batches of one partition that are not with the sink, oldest
// first. Send adds to the last, the sender takes the first.
type queue struct {
	acc     *accumulator
	topic   *topic
	number  int32
	waiting atomic.Int32 // len(mu.batches)
	mu      struct {
		sync.Mutex
		batches []*batch
		listed  bool // the sender looks at it
	}
	sending sending // the sender's own
}

func (q *queue) codec() record.Codec { return q.acc.opts.Compression }

// added is how an add went.
type added struct {
	f     *Future
	begun bool // a batch was, for the sender to see
	full  bool // a batch is that waits before the last
}

// add puts r into the last batch or, with fresh memory, into a new one behind
// it. The error is errMoved if c is not the topic's choice any more, errNoBatch
// if there is no room and no fresh memory.
func (q *queue) add(r *Record, now time.Time, told func(Delivery, error), c *choice, fresh *spare) (a added, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c != nil && q.topic.choice.Load() != c {
		return a, errMoved
	}
	n := len(q.mu.batches)
	if n > 0 && q.mu.batches[n-1].raw == nil {
		if a.f, err = q.mu.batches[n-1].add(r, told); a.f != nil || err != nil {
			a.full = n > 1
			return a, err
		}
	}
	if fresh == nil {
		return a, errNoBatch
	}
	b := newBatch(q, fresh, now)
	if a.f, err = b.add(r, told); err != nil {
		return a, err
	}
	fresh.builder = nil
	q.acc.begin(b)
	q.mu.batches = append(q.mu.batches, b)
	q.changedLocked()
	a.begun, a.full = true, n > 0
	return a, nil
}

// requeue puts batches that were taken out back in front, but behind those
// with earlier numbers.
func (q *queue) requeue(batches ...*batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for at, b := range batches {
		if b.numbered {
			at, _ = slices.BinarySearchFunc(q.mu.batches, b, (*batch).compare)
		}
		q.mu.batches = slices.Insert(q.mu.batches, at, b)
	}
	q.changedLocked()
}

// remove takes out a batch that is there.
func (q *queue) remove(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.removeLocked(slices.Index(q.mu.batches, b))
}

// removeLocked takes batch i out.
func (q *queue) removeLocked(i int) *batch {
	b := q.mu.batches[i]
	if i == 0 {
		q.mu.batches[0] = nil
		q.mu.batches = q.mu.batches[1:]
	} else {
		q.mu.batches = slices.Delete(q.mu.batches, i, i+1)
	}
	q.changedLocked()
	return b
}

// changedLocked keeps the count, and has the sender look here while there are
// batches.
func (q *queue) changedLocked() {
	q.waiting.Store(int32(len(q.mu.batches)))
	if len(q.mu.batches) > 0 && !q.mu.listed {
		q.mu.listed = true
		q.acc.list(q)
	}
}
