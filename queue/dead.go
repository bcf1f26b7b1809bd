package queue

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seglog/seglog/record"
)

// The headers of a message that was given up say of it who did, where it was
// and how often it had been delivered.
const (
	DeadConsumer   = "seglog-dead-consumer"
	DeadOffset     = "seglog-dead-offset"
	DeadDeliveries = "seglog-dead-deliveries"
)

// dead is the queue of the dead letters, opened when it is first asked for. Its
// lock comes after a consumer's.
type dead struct {
	mu     sync.Mutex
	q      *Queue
	closed bool
}

// DeadLetters is the queue of the messages that were given up, which has
// consumers of its own. It is open until this one is closed.
func (q *Queue) DeadLetters(ctx context.Context) (*Queue, error) {
	q.dead.mu.Lock()
	defer q.dead.mu.Unlock()
	if q.dead.closed {
		return nil, ErrClosed
	}
	if q.dead.q == nil {
		o := Options{Durability: q.opts.Durability, Visibility: q.opts.Visibility, Logger: q.opts.Logger, Env: q.opts.Env}
		opened, err := Open(ctx, filepath.Join(q.dir, deadDir), o)
		if err != nil {
			return nil, err
		}
		q.dead.q = opened
	}
	return q.dead.q, nil
}

func (d *dead) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.q == nil {
		return nil
	}
	return d.q.Close()
}

// giveUpLocked moves the message in read to the dead letters. If the machine stops between
// the two it is given up twice.
func (c *consumer) giveUpLocked(e *entry) error {
	dead, err := c.q.DeadLetters(context.Background())
	if err != nil {
		return err
	}
	var m Message
	m.fill(&c.read)
	m.NotBefore, m.Headers = time.Time{}, slices.Concat(m.Headers, []record.Header{
		{Key: DeadConsumer, Value: []byte(c.name)},
		{Key: DeadOffset, Value: strconv.AppendInt(nil, e.offset, 10)},
		{Key: DeadDeliveries, Value: strconv.AppendInt(nil, int64(e.deliveries), 10)},
	})
	if _, err := dead.Push(context.Background(), m); err != nil {
		return err
	}
	return c.finishLocked(e)
}
