// Package inorder does work on several goroutines and takes what comes of it in
// the order in which it was given out: a bounded pipeline, started and ended by
// one goroutine.
//
//	p := inorder.Start(workers, work, done)
//	defer p.Stop()
//	for ... {
//		job, err := p.Next() // to be filled; done was called for what it held before
//		...
//		p.Go()
//	}
//	err := p.Drain()
package inorder

import (
	"sync"
	"sync/atomic"
)

// PerWorker is how many jobs there are for each worker: one at work, others
// ready for it or done and waiting for their turn.
const PerWorker = 3

// Pipe is jobs under way. Its methods are for one goroutine, which is also the
// one that done is called on.
type Pipe[J any] struct {
	done   func(*J) error
	queue  chan *slot[J]
	slots  []slot[J] // in turn
	oldest int       // the first of those under way
	count  int       // of those under way
	err    error     // the first, in the order of the jobs
	failed atomic.Bool
	wg     sync.WaitGroup
}

// slot is a job, which is used again.
type slot[J any] struct {
	job   J
	err   error
	ready chan struct{}
}

// Start starts so many workers, numbered from 0, which call work. done is called
// with each job in order, if neither it nor those before it came to an error.
func Start[J any](workers int, work func(worker int, job *J) error, done func(*J) error) *Pipe[J] {
	p := &Pipe[J]{done: done, slots: make([]slot[J], PerWorker*workers)}
	p.queue = make(chan *slot[J], len(p.slots))
	for i := range p.slots {
		p.slots[i].ready = make(chan struct{}, 1)
	}
	for worker := range workers {
		p.wg.Go(func() {
			for s := range p.queue {
				s.err = nil
				if !p.failed.Load() { // else nobody will look at it
					s.err = work(worker, &s.job)
				}
				s.ready <- struct{}{}
			}
		})
	}
	return p
}

// Next is the job to fill and give out by Go. It is one that was used before,
// as it was left, or a zero one.
func (p *Pipe[J]) Next() (*J, error) {
	if p.count == len(p.slots) {
		p.finishOldest()
	}
	return &p.slots[(p.oldest+p.count)%len(p.slots)].job, p.err
}

// Go gives out the job that Next returned.
func (p *Pipe[J]) Go() {
	p.queue <- &p.slots[(p.oldest+p.count)%len(p.slots)] // there is room for all slots
	p.count++
}

// Drain waits until no job is under way and returns the first error.
func (p *Pipe[J]) Drain() error {
	for p.count > 0 {
		p.finishOldest()
	}
	return p.err
}

// Stop ends the workers, when they are done with what they are at.
func (p *Pipe[J]) Stop() {
	p.failed.Store(true)
	close(p.queue)
	p.wg.Wait()
}

func (p *Pipe[J]) finishOldest() {
	s := &p.slots[p.oldest]
	<-s.ready
	p.oldest, p.count = (p.oldest+1)%len(p.slots), p.count-1
	if p.err != nil {
		return
	}
	if p.err = s.err; p.err == nil {
		p.err = p.done(&s.job)
	}
	if p.err != nil {
		p.failed.Store(true)
	}
}
