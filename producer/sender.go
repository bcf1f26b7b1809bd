package producer

import (
	"context"
	"sync"
	"time"
)

// sender is the goroutine that takes batches out of the queues and hands them to
// the sink. Its fields are its own, but for mail and the channels.
type sender struct {
	p     *Producer
	acc   *accumulator
	opts  *Options
	sink  Sink
	calls context.Context // of all calls to the sink; cancelled by an abort
	abort context.CancelCauseFunc

	queues []*queue // that have batches, or had some when it looked last
	kept   []*queue // memory for the next of these
	served []*queue // the same
	inside map[Node]int
	flying []*batch // that the sink has
	ids    identity

	wake  chan struct{}
	ended chan struct{}
	mail  struct {
		sync.Mutex
		answers []answer
	}
}

func newSender(p *Producer) *sender {
	s := &sender{p: p, acc: p.acc, opts: &p.opts, sink: p.sink, inside: make(map[Node]int),
		wake: make(chan struct{}, 1), ended: make(chan struct{})}
	s.calls, s.abort = context.WithCancelCause(context.Background())
	return s
}

// nudge has the sender look.
func (s *sender) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run ends when the producer is closing and nothing is left.
func (s *sender) run() {
	defer close(s.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		s.readMail(now)
		s.queues = s.acc.takeListed(s.queues)
		if s.calls.Err() != nil {
			s.failAll(context.Cause(s.calls))
		}
		look := s.expire(now)
		look = earlier(look, s.send(now))
		if s.acc.closing.Load() && s.idle() {
			return
		}
		var due <-chan time.Time
		if !look.IsZero() {
			timer.Reset(time.Until(look))
			due = timer.C
		}
		select {
		case <-s.wake:
		case <-due:
		}
	}
}

// idle says that there is nothing to wait for.
func (s *sender) idle() bool {
	s.acc.mu.Lock()
	defer s.acc.mu.Unlock()
	return len(s.acc.mu.undone) == 0 && len(s.flying) == 0
}

// earlier is the earlier of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
