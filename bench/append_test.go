package bench

import (
	"fmt"
	"testing"

	"github.com/seglog/seglog/log"
)

func BenchmarkAppend(b *testing.B) {
	for _, bytes := range []int{100, 1 << 10, 16 << 10} {
		for _, count := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/batch=%d/sync=none", size(bytes), count), func(b *testing.B) {
				benchmarkAppend(b, count, bytes)
			})
		}
	}
}

func benchmarkAppend(b *testing.B, count, bytes int) {
	l := open(b, log.Options{SegmentBytes: segmentBytes})
	recs := batch(count, bytes)
	b.SetBytes(int64(count * bytes))
	b.ReportAllocs()
	written := int64(0)
	for b.Loop() {
		if _, err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
		if written += int64(count * bytes); written > dropEvery {
			written = 0
			b.StopTimer()
			if err := l.DropBefore(l.End()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
	report(b, int64(b.N)*int64(count))
}
