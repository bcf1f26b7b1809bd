package bench

import (
	"fmt"
	"testing"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func BenchmarkAppend(b *testing.B) {
	for _, bytes := range []int{100, 1 << 10, 16 << 10} {
		for _, count := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/batch=%d/sync=none", workload.Size(bytes), count), func(b *testing.B) {
				l := open(b, log.Options{SegmentBytes: workload.SegmentBytes})
				recs := batch(count, bytes)
				workload.Append(b, store(l, recs, bytes, func() error {
					_, err := l.Append(recs...)
					return err
				}))
			})
		}
	}
}

// BenchmarkAppendParallel appends single records from several goroutines, and
// says whether each had its share.
func BenchmarkAppendParallel(b *testing.B) {
	for _, writers := range []int{2, 8} {
		b.Run(fmt.Sprintf("100B/writers=%d", writers), func(b *testing.B) {
			l := open(b, log.Options{SegmentBytes: workload.SegmentBytes})
			recs := batch(1, 100)
			workload.AppendParallel(b, store(l, recs, 100, func() error {
				_, err := l.Append(recs...)
				return err
			}), writers, false)
		})
	}
}

// BenchmarkAppendCompressed appends batches of text, which lz4 makes 27% of.
func BenchmarkAppendCompressed(b *testing.B) {
	for _, codec := range []record.Codec{record.LZ4} {
		b.Run(fmt.Sprintf("1KiB/batch=100/codec=%v", codec), func(b *testing.B) {
			l := open(b, log.Options{SegmentBytes: workload.SegmentBytes, Compression: codec})
			recs := timed(workload.Texts(100, 1<<10))
			workload.Append(b, store(l, recs, 1<<10, func() error {
				_, err := l.Append(recs...)
				return err
			}))
		})
	}
}
