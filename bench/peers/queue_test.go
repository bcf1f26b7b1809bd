package peers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seglog/seglog/bench/workload"
)

func eachQueue(b *testing.B, f func(b *testing.B, e QueueEngine)) {
	for _, e := range QueueEngines {
		b.Run("peer="+e.Name, func(b *testing.B) { f(b, e) })
	}
}

func openQueue(b *testing.B, e QueueEngine, s Setting) workload.Queue {
	b.Helper()
	q, err := e.Open(b.TempDir(), s)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = q.Close() })
	return q
}

// replaced is a queue that is another one after reset.
type replaced struct{ workload.Queue }

func BenchmarkQueuePush(b *testing.B) {
	eachQueue(b, func(b *testing.B, e QueueEngine) {
		for _, durable := range []bool{false, true} {
			for _, pushers := range []int{1, 16, 64} {
				if !durable && pushers > 1 {
					continue
				}
				b.Run(fmt.Sprintf("100B/durable=%t/pushers=%d", durable, pushers), func(b *testing.B) {
					below, round, s := b.TempDir(), 0, Setting{Durable: durable, Writers: pushers}
					dir := func() string { return filepath.Join(below, fmt.Sprint(round)) }
					q := &replaced{}
					reset := func() (err error) {
						if q.Queue != nil {
							err = errors.Join(q.Close(), os.RemoveAll(dir()))
						}
						round++
						if err == nil {
							q.Queue, err = e.Open(dir(), s)
						}
						return err
					}
					if err := reset(); err != nil {
						b.Fatal(err)
					}
					defer func() { _ = q.Close() }()
					workload.Push(b, q, 100, pushers, durable, reset)
				})
			}
		}
	})
}

func BenchmarkQueuePushToAck(b *testing.B) {
	eachQueue(b, func(b *testing.B, e QueueEngine) {
		b.Run("100B", func(b *testing.B) { workload.PushToAck(b, openQueue(b, e, Setting{}), 100) })
	})
}

func BenchmarkQueueLatency(b *testing.B) {
	eachQueue(b, func(b *testing.B, e QueueEngine) {
		b.Run("100B", func(b *testing.B) {
			workload.Latency(b, openQueue(b, e, Setting{}).(workload.WaitingQueue), 100)
		})
	})
}

func BenchmarkQueueOpen(b *testing.B) {
	eachQueue(b, func(b *testing.B, e QueueEngine) {
		b.Run("pending=1M", func(b *testing.B) {
			dir := pending(b, e)
			workload.OpenPending(b, func() (workload.Queue, error) { return e.Open(dir, Setting{}) })
		})
	})
}

func BenchmarkQueueDisk(b *testing.B) {
	eachQueue(b, func(b *testing.B, e QueueEngine) {
		b.Run("100B", func(b *testing.B) {
			dir := ""
			for i := range b.N {
				if i == 0 {
					dir = pending(b, e)
				}
			}
			workload.Disk(b, dir, workload.QueueMessages(), 100)
		})
	})
}

func pending(b *testing.B, e QueueEngine) (dir string) {
	b.Helper()
	dir = b.TempDir()
	q, err := e.Open(dir, Setting{})
	if err == nil {
		err = errors.Join(workload.Pending(q), q.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
	return dir
}
