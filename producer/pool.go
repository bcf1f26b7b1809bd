package producer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seglog/seglog/record"
)

// pool is the memory of batches: total bytes, of which free builders of unit
// bytes each are kept for the next batch (Kafka's BufferPool). Who finds too
// little waits in line, the first in it getting whatever comes back until it
// has enough, so that a large record is not starved by small ones.
type pool struct {
	total, unit int64
	short       func() // called when somebody begins to wait
	mu          struct {
		sync.Mutex
		free    []*record.Builder // of unit bytes each
		left    int64             // neither taken nor in free
		waiting []*waiter         // first come, first served
		waited  time.Duration     // all waits together
		err     error             // for who comes after close
	}
}

// waiter wants need bytes and has got some of them.
type waiter struct {
	need, got int64
	builder   *record.Builder // a free one, in place of bytes
	err       error
	served    chan struct{}
}

func newPool(total, unit int64, short func()) *pool {
	p := &pool{total: total, unit: unit, short: short}
	p.mu.left = total
	return p
}

// take gives out a builder with room for a batch of n bytes, waiting until
// there is memory, ctx ends or maxBlock has passed: ErrExhausted.
func (p *pool) take(ctx context.Context, n int64, maxBlock time.Duration) (*record.Builder, error) {
	p.mu.Lock()
	switch {
	case p.mu.err != nil:
		p.mu.Unlock()
		return nil, p.mu.err
	case len(p.mu.waiting) > 0:
	case n == p.unit && len(p.mu.free) > 0:
		b := p.popLocked()
		p.mu.Unlock()
		return b, nil
	case p.spareLocked(n):
		p.mu.left -= n
		p.mu.Unlock()
		return newBuilder(n), nil
	}
	w := &waiter{need: n, served: make(chan struct{})}
	p.mu.waiting = append(p.mu.waiting, w)
	p.serveLocked()
	p.mu.Unlock()
	p.short()

	began := time.Now()
	timer := time.NewTimer(maxBlock)
	defer timer.Stop()
	var err error
	select {
	case <-w.served:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("%w: no %d of %d bytes in %v", ErrExhausted, n, p.total, maxBlock)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.waited += time.Since(began)
	if err != nil && !p.leaveLocked(w) {
		err = nil // served in the meantime
	}
	if err == nil {
		err = w.err
	}
	if err != nil {
		return nil, err
	}
	if w.builder == nil {
		w.builder = newBuilder(n)
	}
	return w.builder, nil
}

// tryTake adds n bytes to a batch that has some, without waiting.
func (p *pool) tryTake(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mu.waiting) > 0 || !p.spareLocked(n) {
		return false
	}
	p.mu.left -= n
	return true
}

// give takes back a builder for which n bytes were taken.
func (p *pool) give(b *record.Builder, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n == p.unit {
		p.mu.free = append(p.mu.free, b)
	} else {
		p.mu.left += n
	}
	p.serveLocked()
}

// close fails all who wait and will come.
func (p *pool) close(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.err = err
	for _, w := range p.mu.waiting {
		p.mu.left += w.got
		w.err = err
		close(w.served)
	}
	p.mu.waiting = nil
}

// exhausted says that somebody waits.
func (p *pool) exhausted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mu.waiting) > 0
}

// available is the memory not in use.
func (p *pool) available() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.left + int64(len(p.mu.free))*p.unit
}

// spareLocked has n bytes left, letting go of free builders for them.
func (p *pool) spareLocked(n int64) bool {
	if p.mu.left+int64(len(p.mu.free))*p.unit < n {
		return false
	}
	p.gatherLocked(n)
	return true
}

// gatherLocked turns free builders into bytes left until there are n.
func (p *pool) gatherLocked(n int64) {
	for p.mu.left < n && len(p.mu.free) > 0 {
		p.popLocked()
		p.mu.left += p.unit
	}
}

func (p *pool) popLocked() *record.Builder {
	last := len(p.mu.free) - 1
	b := p.mu.free[last]
	p.mu.free[last] = nil
	p.mu.free = p.mu.free[:last]
	return b
}

// serveLocked gives what there is to the first in line, then the next.
func (p *pool) serveLocked() {
	for len(p.mu.waiting) > 0 {
		w := p.mu.waiting[0]
		if w.got == 0 && w.need == p.unit && len(p.mu.free) > 0 {
			w.builder = p.popLocked()
		} else {
			p.gatherLocked(w.need - w.got)
			n := min(p.mu.left, w.need-w.got)
			w.got += n
			p.mu.left -= n
			if w.got < w.need {
				return
			}
		}
		p.mu.waiting = p.mu.waiting[1:]
		close(w.served)
	}
}

// leaveLocked takes w out of the line and gives back what it got. It is false
// if w was served.
func (p *pool) leaveLocked(w *waiter) bool {
	for i := range p.mu.waiting {
		if p.mu.waiting[i] == w {
			p.mu.waiting = append(p.mu.waiting[:i:i], p.mu.waiting[i+1:]...)
			p.mu.left += w.got
			p.serveLocked()
			return true
		}
	}
	return false
}

func newBuilder(n int64) *record.Builder {
	b := new(record.Builder)
	b.Grow(int(n))
	return b
}
