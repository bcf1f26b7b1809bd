package producer

import (
	"iter"
	"time"
)

// finish ends a batch: its futures know, and who wants to be told is.
func (s *sender) finish(b *batch, r Result, now time.Time) {
	b.result, b.err = r, r.Err
	c := &s.p.count
	c.batches.Add(1)
	c.records.Add(int64(b.count))
	c.bytes.Add(int64(len(b.raw)))
	c.payload.Add(int64(b.payload))
	if r.Err != nil {
		c.failed.Add(int64(b.count))
	}
	call(s.opts.Trace.Done, DoneEvent{b.event(), now.Sub(b.born), r.Err})
	if len(b.watched) > 0 {
		s.p.callbacks.add(b.watched...)
	}
	if !b.flying {
		s.release(b)
	}
	s.done(b)
}

// done closes a batch and, where it is the last part of another, that one.
func (s *sender) done(b *batch) {
	close(b.done)
	s.acc.end(b)
	if b.whole != nil {
		if b.whole.left--; b.whole.left == 0 {
			s.done(b.whole)
		}
	}
}

// release gives a batch's memory back, when nobody has it any more.
func (s *sender) release(b *batch) {
	if b.memory > 0 {
		s.acc.pool.give(b.builder, b.memory)
	}
	b.builder, b.raw, b.memory = nil, nil, 0
}

// drain takes all batches out.
func (q *queue) drain() iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		for {
			q.mu.Lock()
			if len(q.mu.batches) == 0 {
				q.mu.Unlock()
				return
			}
			b := q.removeLocked(0)
			b.full = true
			q.mu.Unlock()
			if !yield(b) {
				return
			}
		}
	}
}
