package consumer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/record"
)

// Record is a record with its place. It is the caller's for good.
type Record struct {
	Topic       string
	Partition   int32
	LeaderEpoch int32 // of its batch, -1 for none
	record.Record
}

// Consumer reads topics of a broker. See the package comment for its concurrency.
type Consumer struct {
	b          *broker.Broker
	group      string
	opts       Options
	wake       chan struct{} // ends the wait of a Poll, which looks at everything again
	topics     atomic.Bool   // there may be other topics than when it was last looked
	stopTopics func()

	mu struct {
		sync.Mutex
		polling bool          // a call is running of those that exclude each other
		over    chan struct{} // closed when it is over, if somebody waits for that
		idle    time.Time     // since when nobody has polled; zero: Poll is running
		closing bool
		closed  bool

		mode         mode
		subscription subscription
		member       member
		beat         *time.Timer // heartbeats
		parts        map[TopicPartition]*partition
		order        []*partition // of parts: in turn, beginning at turn
		turn         int
		commitDue    time.Time      // of auto commit
		async        []*asyncCommit // in order, until their funcs were called
	}
}

// New makes a consumer of a broker, a member of the group once it has subscribed.
// "" is no group: partitions can then be assigned by hand only, and nothing is
// committed. The consumer is to be closed before its broker.
func New(b *broker.Broker, group string, o Options) (*Consumer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Consumer{b: b, group: group, opts: o, wake: make(chan struct{}, 1)}
	c.mu.parts = make(map[TopicPartition]*partition)
	c.mu.member.reset()
	c.mu.idle = time.Now()
	c.stopTopics = b.OnTopics(func() {
		c.topics.Store(true)
		c.nudge()
	})
	return c, nil
}

// nudge has a Poll that waits look again.
func (c *Consumer) nudge() {
	select {
	case c.wake <- struct{}{}:
	default: // it is about to
	}
}

// begin begins a call that excludes others of its kind; end ends it.
func (c *Consumer) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.mu.closing:
		return ErrClosed
	case c.mu.polling:
		return ErrPolling
	}
	c.mu.polling, c.mu.idle = true, time.Time{}
	return nil
}

func (c *Consumer) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.polling, c.mu.idle = false, time.Now()
	if c.mu.over != nil {
		close(c.mu.over)
		c.mu.over = nil
	}
}

// outside calls a func of the caller's without the lock.
func (c *Consumer) outside(do func()) {
	c.mu.Unlock()
	defer c.mu.Lock()
	do()
}

// listener calls a func of the Listener's. The time that it takes counts as time
// without a Poll.
func (c *Consumer) listener(ctx context.Context, told func(context.Context, []TopicPartition), list []TopicPartition) {
	if told == nil {
		return
	}
	c.mu.idle = time.Now()
	c.outside(func() { told(ctx, list) })
	c.mu.idle = time.Time{}
}

// Close ends a running Poll, commits positions unless with NoAutoCommit, tells
// the Listener that its partitions are revoked, leaves the group, and ends the
// consumer. A static member stays in its group. If ctx ends before a running Poll
// has, or before the commit is done, the rest is done without it, and ctx's error
// returned. Closing again does nothing. Listener's funcs must not call it.
func (c *Consumer) Close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closing {
		return nil
	}
	c.mu.closing = true
	var err error
	if c.mu.polling {
		err = c.interrupt(ctx)
	}
	if err == nil {
		c.mu.polling, c.mu.idle = true, time.Time{}
		err = c.giveUp(ctx)
		c.mu.polling = false
	} else {
		c.leave()
	}
	c.mu.closed = true
	c.stopTopics()
	return err
}

// interrupt waits for the end of a Poll, which sees that the consumer is closing.
func (c *Consumer) interrupt(ctx context.Context) error {
	over := make(chan struct{})
	c.mu.over = over
	c.mu.Unlock()
	defer c.mu.Lock()
	c.nudge()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// giveUp ends what the consumer reads: positions are committed, partitions
// revoked, the group left.
func (c *Consumer) giveUp(ctx context.Context) error {
	err := c.commitAll(ctx)
	c.tellCommitted()
	if c.mu.member.lost {
		c.lose(ctx)
	}
	c.revoke(ctx, c.owned())
	c.leave()
	return err
}

// commitAll is the last auto commit.
func (c *Consumer) commitAll(ctx context.Context) error {
	if c.opts.AutoCommit == NoAutoCommit || c.group == "" {
		return nil
	}
	offsets := c.uncommitted()
	if len(offsets) == 0 {
		return nil
	}
	err := c.commitSync(ctx, offsets)
	for errors.Is(err, kerr.RebalanceInProgress) && ctx.Err() == nil {
		c.advance() // the others wait for what this member has to say, too
		if err = c.commitSync(ctx, offsets); !errors.Is(err, kerr.RebalanceInProgress) {
			break
		}
		c.outside(func() { _ = pause(ctx) })
	}
	if errors.Is(err, ErrCommitFailed) { // they are another's, who reads them again
		c.opts.Logger.Warn("consumer: the last positions were not committed", "group", c.group, "error", err)
		return nil
	}
	return err
}
