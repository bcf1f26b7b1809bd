package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/seglog/seglog/log"
)

// BenchmarkOpen opens and closes logs that were closed cleanly.
func BenchmarkOpen(b *testing.B) {
	for _, segments := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("clean/segments=%d", segments), func(b *testing.B) {
			dir, o := b.TempDir(), log.Options{SegmentBytes: 16 << 10}
			l, err := log.Open(context.Background(), dir, o)
			if err != nil {
				b.Fatal(err)
			}
			for recs := batch(10, 1000); len(l.Segments()) < segments; {
				if _, err := l.Append(recs...); err != nil {
					b.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				l, err := log.Open(context.Background(), dir, o)
				if err != nil {
					b.Fatal(err)
				}
				if !l.Recovery().Clean {
					b.Fatal("not clean")
				}
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
