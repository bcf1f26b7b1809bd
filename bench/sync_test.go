package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
)

// BenchmarkAppendSync appends single durable records from many goroutines,
// which share syncs.
func BenchmarkAppendSync(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("100B/writers=%d", writers), func(b *testing.B) {
			appendSync(b, b.TempDir(), 100, writers)
		})
	}
}

// BenchmarkAppendSyncJournaled is the same on a file system with a journal,
// which a sync has to write as well.
func BenchmarkAppendSyncJournaled(b *testing.B) {
	b.Run("4KiB/writers=1", func(b *testing.B) { appendSync(b, workload.Journaled(b), 4<<10, 1) })
}

func appendSync(b *testing.B, dir string, bytes, writers int) {
	l := openIn(b, dir, log.Options{SegmentBytes: workload.SegmentBytes})
	recs := batch(1, bytes)
	workload.AppendParallel(b, store(l, recs, bytes, func() error {
		_, err := l.AppendSync(context.Background(), recs...)
		return err
	}), writers, true)
}
