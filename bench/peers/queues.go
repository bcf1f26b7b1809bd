package peers

import (
	"context"
	"sync"

	"github.com/seglog/seglog/bench/workload"
)

// A QueueEngine is a peer as a queue.
type QueueEngine struct {
	Name string
	Open func(dir string, s Setting) (workload.Queue, error)
}

// QueueEngines are the peers as queues.
var QueueEngines = []QueueEngine{
	{Name: "dque", Open: openDqueQueue},
	{Name: "jetstream", Open: openJetStreamQueue},
	{Name: "bbolt", Open: func(dir string, s Setting) (workload.Queue, error) {
		db, err := openBoltDB(dir, s.Durable, s.Writers)
		return newKeyed(db, err)
	}},
	{Name: "pebble", Open: func(dir string, s Setting) (workload.Queue, error) {
		db, err := openPebbleDB(dir, s.Durable)
		return newKeyed(db, err)
	}},
	{Name: "sqlite", Open: func(dir string, s Setting) (workload.Queue, error) {
		db, err := openSQLite(dir, s.Durable)
		return newKeyed(db, err)
	}},
}

// A keyed database is one in which a program keeps a queue of its own.
type keyed interface {
	// add adds a value under a key above all others.
	add(values ...[]byte) error
	// from hands out the values from a key on until each returns false.
	from(key uint64, each func(key uint64, value []byte) bool) error
	remove(key uint64) error
	Close() error
}

// keyedQueue is the least that a program does for a queue over a database: a place
// up to which messages were taken, a look-ahead, removal by acknowledgement, and
// a channel to wake one worker.
type keyedQueue struct {
	keyed
	woken chan struct{}

	mu    sync.Mutex
	place uint64
	last  uint64 // taken
	ahead []taken
}

type taken struct {
	key   uint64
	value []byte
}

func newKeyed[DB keyed](db DB, err error) (workload.Queue, error) {
	if err != nil {
		return nil, err
	}
	return &keyedQueue{keyed: db, woken: make(chan struct{}, 1)}, nil
}

func (q *keyedQueue) Push(value []byte) error { return q.PushBatch([][]byte{value}) }

func (q *keyedQueue) PushBatch(values [][]byte) error {
	if err := q.add(values...); err != nil {
		return err
	}
	select {
	case q.woken <- struct{}{}:
	default:
	}
	return nil
}

func (q *keyedQueue) Take() (value []byte, ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ahead) == 0 {
		q.ahead = q.ahead[:0]
		err := q.from(q.place, func(key uint64, value []byte) bool {
			q.ahead = append(q.ahead, taken{key, append([]byte(nil), value...)})
			return len(q.ahead) < 100
		})
		if err != nil || len(q.ahead) == 0 {
			return nil, false, err
		}
		q.place = q.ahead[len(q.ahead)-1].key + 1
	}
	first := q.ahead[0]
	q.ahead = q.ahead[1:]
	q.last = first.key
	return first.value, true, nil
}

func (q *keyedQueue) Ack() error { return q.remove(q.last) }

func (q *keyedQueue) Wait(ctx context.Context) (value []byte, err error) {
	for {
		value, ok, err := q.Take()
		if ok || err != nil {
			return value, err
		}
		select {
		case <-q.woken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *keyedQueue) Depth() (n int64, err error) {
	err = q.from(0, func(uint64, []byte) bool { n++; return true })
	return n, err
}
