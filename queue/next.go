package queue

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/seglog/seglog/log"
)

// Next delivers the consumer's next message, waiting until there is one or ctx
// ends. The message is out until Ack, Nack or Visibility.
func (q *Queue) Next(ctx context.Context, consumer string) (m Message, err error) {
	for {
		ok, s, err := q.try(consumer, &m)
		if ok || err != nil {
			return m, err
		}
		if err := s.wait(ctx); err != nil {
			return m, err
		}
	}
}

// TryNext is Next that does not wait: ok is false if there is no message now.
func (q *Queue) TryNext(consumer string) (m Message, ok bool, err error) {
	ok, _, err = q.try(consumer, &m)
	return m, ok, err
}

// try delivers a message, ok, or says what there was to see where there is none.
func (q *Queue) try(consumer string, m *Message) (ok bool, s seen, err error) {
	for {
		c, err := q.consumer(consumer)
		if err != nil {
			return false, s, err
		}
		s.c, s.version, s.end = c, c.version.Load(), q.log.End()
		if ok, s.at, err = c.hand(q.opts.Env.Now(), m); err == errForgotten {
			continue
		}
		return ok, s, closed(err)
	}
}

// Consume delivers the consumer's messages, one after the other, until ctx ends
// or the queue is closed, which ends it without an error, or something fails,
// which is the last thing it yields. Each is out until it is dealt with by Ack or
// Nack, also if the loop is left.
func (q *Queue) Consume(ctx context.Context, consumer string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := q.Next(ctx, consumer)
			if err != nil && (ctx.Err() != nil || errors.Is(err, ErrClosed)) {
				return
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// NextOf is Next of several queues: of those that have a message, the first in
// the order given, so that earlier ones have priority. It returns the queue's
// index.
func NextOf(ctx context.Context, consumer string, queues ...*Queue) (m Message, index int, err error) {
	for {
		waits := make([]func(context.Context) error, len(queues))
		for i, q := range queues {
			ok, s, err := q.try(consumer, &m)
			if ok || err != nil {
				return m, i, err
			}
			waits[i] = s.wait
		}
		if i, err := first(ctx, waits); err != nil {
			return m, i, err
		}
	}
}

// first returns when one of the waits has, and the others have been ended.
func first(ctx context.Context, waits []func(context.Context) error) (index int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		index int
		err   error
	}
	ends := make(chan end, len(waits))
	for i, wait := range waits {
		go func() { ends <- end{i, wait(ctx)} }()
	}
	e := <-ends
	cancel()
	for range len(waits) - 1 {
		<-ends
	}
	return e.index, e.err
}

// seen is how a consumer was that had no message to deliver.
type seen struct {
	c       *consumer
	version int64
	end     int64
	at      time.Time // when it may have one, whatever happens; zero is never
}

// wait returns when it may have one.
func (s seen) wait(ctx context.Context) error {
	until, q := ctx, s.c.q
	if !s.at.IsZero() {
		var cancel context.CancelFunc
		until, cancel = context.WithTimeout(ctx, s.at.Sub(q.opts.Env.Now()))
		defer cancel()
	}
	err := q.changed.Wait(until, func() bool { return s.c.version.Load() != s.version || q.log.End() != s.end })
	if err != nil && until.Err() != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		return nil // at has come
	}
	return err
}

func closed(err error) error {
	if errors.Is(err, log.ErrClosed) {
		return ErrClosed
	}
	return err
}
