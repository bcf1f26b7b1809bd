package workload

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// A Queue is what the workloads of queues need of an engine. A message is
// pushed, taken by one worker, and acknowledged, upon which it is gone.
type Queue interface {
	Push(value []byte) error
	// Take takes the next message, ok is false where there is none.
	Take() (value []byte, ok bool, err error)
	// Ack says that the message taken last is dealt with. It is a method, for
	// what an engine does not need to allocate is not to be timed.
	Ack() error
	// Depth counts the messages that are pending.
	Depth() (int64, error)
	Close() error
}

// A BatchQueue pushes several messages as one.
type BatchQueue interface {
	Queue
	PushBatch(values [][]byte) error
}

// A WaitingQueue wakes who waits for a message.
type WaitingQueue interface {
	Queue
	// Wait is Take that waits until there is one, or ctx ends.
	Wait(ctx context.Context) (value []byte, err error)
}

// QueueMessages is how many are pending in a queue that is opened.
func QueueMessages() int { return Records() }

// Push times single pushes by several goroutines, messages of size bytes. reset
// makes the queue empty.
func Push(b *testing.B, q Queue, size, pushers int, latencies bool, reset func() error) {
	b.Helper()
	value := Payload(size)
	AppendParallel(b, Store{
		Append:  func() error { return q.Push(value) },
		Recycle: reset,
		Held:    func() (int64, error) { return q.Depth() },
		Count:   1,
		Size:    size,
	}, pushers, latencies)
}

// PushToAck times pushing, taking and acknowledging one message after the other.
func PushToAck(b *testing.B, q Queue, size int) {
	b.Helper()
	value := Payload(size)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	once := func() {
		if err := q.Push(value); err != nil {
			b.Fatal(err)
		}
		got, ok, err := q.Take()
		if err != nil || !ok || len(got) != size {
			b.Fatal("took", len(got), ok, err)
		}
		if err := q.Ack(); err != nil {
			b.Fatal(err)
		}
	}
	once() // which does what is done once
	n := int64(0)
	for b.Loop() {
		once()
		n++
	}
	Rate(b, n)
	if depth, err := q.Depth(); err != nil || depth != 0 {
		b.Fatalf("%d messages are pending that were acknowledged, %v", depth, err)
	}
}

// Latency times a message from before it is pushed until a worker that waits has
// it. The worker acknowledges it after that.
func Latency(b *testing.B, q WaitingQueue, size int) {
	b.Helper()
	value := Payload(size)
	received, ended := make(chan time.Time, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		ended <- func() error {
			for {
				got, err := q.Wait(ctx)
				at := time.Now()
				if ctx.Err() != nil {
					return nil
				}
				if err == nil && len(got) != size {
					err = fmt.Errorf("%d bytes", len(got))
				}
				if err != nil {
					return err
				}
				received <- at
				if err := q.Ack(); err != nil {
					return err
				}
			}
		}()
	}()
	Woken(b, func() error { return q.Push(value) }, received)
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

// Pending fills a queue with QueueMessages messages of 100 bytes.
func Pending(q Queue) error {
	values := Values(100, 100)
	for range QueueMessages() / len(values) {
		if many, ok := q.(BatchQueue); ok {
			if err := many.PushBatch(values); err != nil {
				return err
			}
			continue
		}
		for _, value := range values {
			if err := q.Push(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// OpenPending times opening a queue in which messages are pending.
func OpenPending(b *testing.B, open func() (Queue, error)) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		q, err := open()
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if depth, err := q.Depth(); err != nil || depth != int64(QueueMessages()) {
			b.Fatalf("%d messages are pending of %d, %v", depth, QueueMessages(), err)
		}
		if err := q.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
