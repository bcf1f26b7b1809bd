package queue

import (
	"fmt"
	"sync"
	"testing"
)

// BenchmarkPush pushes messages of 100 bytes from several goroutines.
func BenchmarkPush(b *testing.B) {
	for _, d := range []Durability{Appended, Durable} {
		for _, pushers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("100B/durable=%t/pushers=%d", d == Durable, pushers), func(b *testing.B) {
				q := begin(b, b.TempDir(), Options{Durability: d, MaxBytes: 256 << 20, Full: DropOldest})
				m := Message{Value: make([]byte, 100)}
				b.SetBytes(100)
				b.ReportAllocs()
				b.ResetTimer()
				var group sync.WaitGroup
				for p := range pushers {
					group.Go(func() {
						for range (b.N + p) / pushers {
							if _, err := q.Push(background, m); err != nil {
								b.Error(err)
							}
						}
					})
				}
				group.Wait()
			})
		}
	}
}

// BenchmarkPushToAck pushes, takes and acknowledges one message after the other.
func BenchmarkPushToAck(b *testing.B) {
	q := begin(b, b.TempDir(), Options{MaxBytes: 256 << 20})
	m := Message{Value: make([]byte, 100)}
	b.SetBytes(100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := q.Push(background, m); err != nil {
			b.Fatal(err)
		}
		got, ok, err := q.TryNext("c")
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
		if err := got.Ack(); err != nil {
			b.Fatal(err)
		}
	}
}
