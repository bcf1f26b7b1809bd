package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/seglog/seglog/internal/notify"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// Queue is an open queue. All methods may be called concurrently.
type Queue struct {
	opts     Options
	dir      string
	log      *log.Log        // the messages
	places   *log.Log        // what consumers have done
	changed  notify.Notifier // there may be something for a Next that waits
	room     notify.Notifier // or for a Push
	reserved atomic.Int64    // bytes that are being pushed; see limits.go
	upkeep   upkeep
	clock    clock

	// known is a copy of mu.consumers that is not changed any more, for who looks one
	// up; nil once the queue is closed.
	known atomic.Pointer[map[string]*consumer]

	mu struct {
		sync.Mutex
		consumers map[string]*consumer
		closed    bool
	}
	dead dead
}

const (
	placesDir          = "consumers"
	deadDir            = "dead"
	placesSegmentBytes = 4 << 20
)

// Open opens the queue in dir, making it if there is none. One process may have
// it open; another is log.ErrLocked.
func Open(ctx context.Context, dir string, o Options) (*Queue, error) {
	q, err := open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	q.startUpkeep()
	return q, nil
}

// open is Open without upkeep.
func open(ctx context.Context, dir string, o Options) (q *Queue, err error) {
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	q = &Queue{opts: o, dir: dir}
	q.mu.consumers = make(map[string]*consumer)
	env := log.Env{FS: o.Env.FS, Now: o.Env.Now}
	if q.clock.set(); o.Env.Now == nil {
		q.opts.Env.Now = q.clock.now
	}
	q.upkeep.wake = make(chan struct{}, 1)
	q.log, err = log.Open(ctx, dir, log.Options{SegmentBytes: o.SegmentBytes, Compression: o.Compression, Logger: o.Logger, Env: env,
		Trace: log.Trace{Rolled: func(log.RollEvent) { q.upkeep.bound(q.log) }}})
	if err != nil {
		return nil, err
	}
	q.places, err = log.Open(ctx, filepath.Join(dir, placesDir), log.Options{SegmentBytes: placesSegmentBytes, Logger: o.Logger, Env: env})
	if err != nil {
		return nil, errors.Join(err, q.log.Close())
	}
	if o.Durability == Durable {
		// What a process had pushed that was killed is about to be delivered.
		err = errors.Join(q.log.Sync(ctx), q.places.Sync(ctx))
	}
	if err == nil {
		err = q.load(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, q.places.Close(), q.log.Close())
	}
	q.upkeep.bound(q.log)
	q.publishLocked()
	return q, nil
}

// Push adds a message behind all others and returns its offset. See Full for
// what it does where there is no room.
func (q *Queue) Push(ctx context.Context, m Message) (offset int64, err error) {
	one := [1]record.Record{m.record(q.opts.Env.Now())}
	return q.push(ctx, one[:])
}

// PushBatch pushes messages at once: all of them, at offsets that follow one
// another from the one returned, or, after an error, none, also when the machine
// stops meanwhile.
func (q *Queue) PushBatch(ctx context.Context, messages ...Message) (first int64, err error) {
	records, now := make([]record.Record, len(messages)), q.opts.Env.Now()
	for i := range messages {
		records[i] = messages[i].record(now)
	}
	return q.push(ctx, records)
}

func (q *Queue) push(ctx context.Context, records []record.Record) (first int64, err error) {
	if q.opts.MaxBytes > 0 {
		first, err = q.pushWithin(ctx, records)
	} else {
		first, err = q.log.Append(records...)
	}
	if err != nil {
		return first, closed(err)
	}
	q.changed.Notify()
	if q.opts.Durability == Durable {
		err = q.log.Sync(ctx)
	}
	return first, closed(err)
}

// persisted waits until what was written of a consumer's place survives what
// Durability says.
func (q *Queue) persisted(ctx context.Context) error {
	if q.opts.Durability == Durable {
		return q.places.Sync(ctx)
	}
	return nil
}

// Log is the log of messages, for reading: from an offset or a time on, whoever
// has consumed what.
func (q *Queue) Log() *log.Log { return q.log }

// consumer is the one of that name, begun if there is none.
func (q *Queue) consumer(name string) (*consumer, error) {
	if known := q.known.Load(); known != nil {
		if c := (*known)[name]; c != nil {
			return c, nil
		}
	}
	return q.begin(name)
}

func (q *Queue) begin(name string) (*consumer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch c := q.mu.consumers[name]; {
	case q.mu.closed:
		return nil, ErrClosed
	case c != nil:
		return c, nil
	case name == "" || len(name) > 255:
		return nil, fmt.Errorf("%w: %d", ErrName, len(name))
	}
	first := q.log.First()
	c := newConsumer(q, name, place{floor: first, reach: first})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.moveLocked(c.place, q.opts.Env.Now()); err != nil {
		return nil, err
	}
	q.mu.consumers[name] = c
	q.publishLocked()
	return c, nil
}

// publishLocked lets consumer know which there are.
func (q *Queue) publishLocked() {
	known := maps.Clone(q.mu.consumers)
	q.known.Store(&known)
}

// Close ends everything that waits and closes the queue. What is out and not
// acknowledged is delivered again after the next Open.
func (q *Queue) Close() error {
	q.mu.Lock()
	if q.mu.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	q.mu.closed = true
	q.known.Store(nil)
	q.mu.Unlock()
	q.changed.Close(ErrClosed)
	q.room.Close(ErrClosed)
	q.upkeep.stop()
	return errors.Join(q.saveReach(), q.dead.close(), q.places.Close(), q.log.Close())
}
