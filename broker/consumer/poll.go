package consumer

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
)

// Poll returns the next records, at most Options.MaxPollRecords, as soon as there
// is one: in the order of each partition. It waits no longer than ctx, whose error
// it then returns; nothing is lost by that.
//
// Errors are ErrClosed and broker.ErrClosed; FENCED_INSTANCE_ID when another
// consumer has the InstanceID; those that keep the member out of the group
// (GROUP_MAX_SIZE_REACHED, INVALID_SESSION_TIMEOUT, INCONSISTENT_GROUP_PROTOCOL);
// of a partition ErrNoOffset and OFFSET_OUT_OF_RANGE with Reset None, and
// KAFKA_STORAGE_ERROR. After the latter kinds Poll may be called again: what else
// there is is returned, and what failed is tried again every now and then.
func (c *Consumer) Poll(ctx context.Context) ([]Record, error) {
	return c.poll(ctx, c.opts.MaxPollRecords)
}

// Records returns records one by one, each of which is a Poll: the position is
// behind those that the loop has got, wherever it ends. After an error that Poll
// may be called after the loop may go on; others end it.
func (c *Consumer) Records(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			records, err := c.poll(ctx, 1)
			var r Record
			if err == nil {
				r = records[0]
			}
			if !yield(r, err) || err != nil && final(ctx, err) {
				return
			}
		}
	}
}

func final(ctx context.Context, err error) bool {
	for _, end := range []error{ErrClosed, broker.ErrClosed, ErrPolling, ErrMode, kerr.FencedInstanceID} {
		if errors.Is(err, end) {
			return true
		}
	}
	return ctx.Err() != nil
}

func (c *Consumer) poll(ctx context.Context, limit int) ([]Record, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	defer c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := c.upkeep(ctx); err != nil {
			return nil, err
		}
		if err := c.failure(); err != nil {
			return nil, err
		}
		if ready := c.ready(); ready < limit {
			c.read(ctx, ready == 0)
		}
		if records := c.take(limit); len(records) > 0 {
			return records, nil
		}
	}
}

// failure is what is to be told of a partition, once.
func (c *Consumer) failure() error {
	for _, p := range c.mu.order {
		if err := p.err; err != nil {
			p.err = nil
			return err
		}
	}
	return nil
}

// upkeep is what every Poll does: it is where the group's changes take effect.
func (c *Consumer) upkeep(ctx context.Context) error {
	now := time.Now()
	switch {
	case c.mu.closing:
		return ErrClosed
	case c.b.Closed():
		return broker.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case c.mu.mode == nobody:
		return ErrMode
	}
	c.tellCommitted()
	changed := c.topics.Swap(false)
	if c.mu.mode == byGroup {
		if err := c.takePart(ctx, changed); err != nil {
			return err
		}
	}
	c.autoCommit(ctx, now)
	c.settle(now)
	return nil
}

// due is when Poll has something to do though nothing wakes it.
func (c *Consumer) due(now time.Time) (at time.Time) {
	earliest := func(t time.Time) {
		if t.After(now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	earliest(c.mu.member.retry)
	for _, p := range c.mu.order {
		earliest(p.retry)
	}
	if c.autoCommits() && len(c.uncommitted()) > 0 {
		earliest(c.mu.commitDue)
	}
	return at
}
