package bench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// clock is a fixed time, so that a benchmark times the engine and not the clock.
var clock = time.UnixMilli(1_800_000_000_000)

// payload is n bytes that do not compress to nothing.
func payload(n int) []byte {
	b := make([]byte, 0, n+sha256.Size)
	for i := 0; len(b) < n; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		b = append(b, sum[:]...)
	}
	return b[:n]
}

// batch is count records of size bytes each, with times.
func batch(count, size int) []record.Record {
	recs := make([]record.Record, count)
	for i := range recs {
		recs[i] = record.Record{Time: clock.Add(time.Duration(i) * time.Millisecond), Value: payload(size)}
	}
	return recs
}

func open(b *testing.B, o log.Options) *log.Log {
	b.Helper()
	l, err := log.Open(context.Background(), b.TempDir(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

// A long append benchmark works in a bounded set of memory: segments of
// segmentBytes, of which it drops what is there, off the clock, each time
// dropEvery bytes have been appended. Otherwise it would time how fast a virtual
// machine gets memory from its host (five times as long a page, on some).
const (
	segmentBytes = 64 << 20
	dropEvery    = 256 << 20
)

// report adds records/s.
func report(b *testing.B, records int64) {
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

func size(n int) string {
	if n < 1024 {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%dKiB", n/1024)
}
