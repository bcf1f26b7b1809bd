package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/queue"
)

// BenchmarkQueuePush pushes messages of 100 bytes from several goroutines.
func BenchmarkQueuePush(b *testing.B) {
	for _, durable := range []bool{false, true} {
		for _, pushers := range []int{1, 16, 64} {
			if !durable && pushers > 1 {
				continue
			}
			b.Run(fmt.Sprintf("100B/durable=%t/pushers=%d", durable, pushers), func(b *testing.B) {
				q := openQueue(b, b.TempDir(), durable)
				workload.Push(b, q, 100, pushers, durable, func() error { return q.Seek(worker, q.Log().End()) })
			})
		}
	}
}

// BenchmarkQueuePushToAck pushes, takes and acknowledges one message after the other.
func BenchmarkQueuePushToAck(b *testing.B) {
	b.Run("100B", func(b *testing.B) { workload.PushToAck(b, openQueue(b, b.TempDir(), false), 100) })
}

// BenchmarkQueueLatency is how long a worker that waits waits for a message.
func BenchmarkQueueLatency(b *testing.B) {
	b.Run("100B", func(b *testing.B) { workload.Latency(b, openQueue(b, b.TempDir(), false), 100) })
}

// BenchmarkQueueOpen opens a queue in which a million messages are pending.
func BenchmarkQueueOpen(b *testing.B) {
	b.Run("pending=1M", func(b *testing.B) {
		dir := pending(b)
		workload.OpenPending(b, func() (workload.Queue, error) {
			q, err := queue.Open(context.Background(), dir, queue.Options{})
			return &inQueue{Queue: q}, err
		})
	})
}

// BenchmarkQueueDisk is what a pending message takes on disk beyond its bytes.
func BenchmarkQueueDisk(b *testing.B) {
	b.Run("100B", func(b *testing.B) {
		dir := ""
		for i := range b.N {
			if i == 0 {
				dir = pending(b)
			}
		}
		workload.Disk(b, dir, workload.QueueMessages(), 100)
	})
}

const worker = "worker"

// inQueue is a queue.Queue as workload sees it.
type inQueue struct {
	*queue.Queue
	last queue.Message // taken
}

func openQueue(b *testing.B, dir string, durable bool) *inQueue {
	b.Helper()
	o := queue.Options{SegmentBytes: workload.SegmentBytes}
	if durable {
		o.Durability = queue.Durable
	}
	q, err := queue.Open(context.Background(), dir, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = q.Close() })
	return &inQueue{Queue: q}
}

// pending makes a queue with pending messages and closes it.
func pending(b *testing.B) (dir string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "q")
	q, err := queue.Open(context.Background(), dir, queue.Options{})
	if err == nil {
		err = workload.Pending(&inQueue{Queue: q})
	}
	if err == nil {
		_, err = q.Stats(worker) // begins the worker, with all of it before it
	}
	if err == nil {
		err = q.Close()
	}
	if err != nil {
		b.Fatal(errors.Join(err, os.RemoveAll(dir)))
	}
	return dir
}

func (q *inQueue) Push(value []byte) error {
	_, err := q.Queue.Push(context.Background(), queue.Message{Value: value})
	return err
}

func (q *inQueue) PushBatch(values [][]byte) error {
	messages := make([]queue.Message, len(values))
	for i, value := range values {
		messages[i].Value = value
	}
	_, err := q.Queue.PushBatch(context.Background(), messages...)
	return err
}

func (q *inQueue) Take() (value []byte, ok bool, err error) {
	q.last, ok, err = q.TryNext(worker)
	return q.last.Value, ok, err
}

func (q *inQueue) Wait(ctx context.Context) (value []byte, err error) {
	q.last, err = q.Next(ctx, worker)
	return q.last.Value, err
}

func (q *inQueue) Ack() error { return q.last.Ack() }

// Depth reads what is pending: what a counter says is no proof.
func (q *inQueue) Depth() (int64, error) {
	said, err := q.Queue.Depth(worker)
	if err != nil {
		return 0, err
	}
	stats, err := q.Stats(worker)
	if err != nil {
		return 0, err
	}
	read := int64(0)
	for _, err := range q.Log().From(stats.Floor) {
		if err != nil {
			return 0, err
		}
		read++
	}
	if read != said {
		return 0, fmt.Errorf("depth is %d, and %d messages are read", said, read)
	}
	return read, nil
}
