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
func (q *Queue) Next(ctx context.Context, consumer string) (Message, error) {
	for {
		c, err := q.consumer(consumer)
		if err != nil {
			return Message{}, err
		}
		version, end := c.version.Load(), q.log.End()
		m, ok, at, err := c.hand(q.opts.Env.Now())
		if err != nil {
			return m, closed(err)
		}
		if ok {
			return m, nil
		}
		if err := q.wait(ctx, at, func() bool { return c.version.Load() != version || q.log.End() != end }); err != nil {
			return m, err
		}
	}
}

// TryNext is Next that does not wait: ok is false if there is no message now.
func (q *Queue) TryNext(consumer string) (m Message, ok bool, err error) {
	c, err := q.consumer(consumer)
	if err != nil {
		return m, false, err
	}
	m, ok, _, err = c.hand(q.opts.Env.Now())
	return m, ok, closed(err)
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
			c, err := q.consumer(consumer)
			if err != nil {
				return m, i, err
			}
			version, end := c.version.Load(), q.log.End()
			m, ok, at, err := c.hand(q.opts.Env.Now())
			if ok || err != nil {
				return m, i, closed(err)
			}
			waits[i] = func(ctx context.Context) error {
				return q.wait(ctx, at, func() bool { return c.version.Load() != version || q.log.End() != end })
			}
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

// wait returns when ready holds or at has come; zero never does.
func (q *Queue) wait(ctx context.Context, at time.Time, ready func() bool) error {
	until := ctx
	if !at.IsZero() {
		var cancel context.CancelFunc
		until, cancel = context.WithTimeout(ctx, at.Sub(q.opts.Env.Now()))
		defer cancel()
	}
	err := q.changed.Wait(until, ready)
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
