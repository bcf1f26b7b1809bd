package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/seglog/seglog/log"
)

// BenchmarkAppendSync appends single durable records from many goroutines,
// which share syncs.
func BenchmarkAppendSync(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("100B/writers=%d", writers), func(b *testing.B) {
			l := open(b, log.Options{})
			recs := batch(1, 100)
			b.SetBytes(100)
			b.ReportAllocs()
			b.ResetTimer()
			var group sync.WaitGroup
			for w := range writers {
				share := b.N / writers
				if w < b.N%writers {
					share++
				}
				group.Go(func() {
					for range share {
						if _, err := l.AppendSync(context.Background(), recs...); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			report(b, int64(b.N))
		})
	}
}
