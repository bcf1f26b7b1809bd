package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
)

// BenchmarkVerify checks a closed log of 256 MiB, warm, in batches of 16 KiB:
// every checksum, record, index and seal.
func BenchmarkVerify(b *testing.B) {
	const bytes = 256 << 20
	for _, n := range []int{100, 1024} {
		for _, segments := range []int64{1, 16} {
			b.Run(fmt.Sprintf("%s/segments=%d", workload.Size(n), segments), func(b *testing.B) {
				dir := b.TempDir()
				l, err := log.Open(context.Background(), dir, log.Options{SegmentBytes: bytes/segments + 1<<20})
				if err != nil {
					b.Fatal(err)
				}
				records := (16 << 10) / (n + 10)
				fill(b, l, bytes/n, records, n)
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				var checked int64
				for b.Loop() {
					v, err := log.Verify(context.Background(), dir, log.Options{}, nil)
					if err != nil || len(v.Faults) > 0 {
						b.Fatal(err, v)
					}
					b.SetBytes(v.Bytes)
					checked += v.Records
				}
				workload.Rate(b, checked)
			})
		}
	}
}
