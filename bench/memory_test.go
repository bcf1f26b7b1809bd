package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
)

// BenchmarkMemory is what a process holds that has opened a log of 1,000
// segments and read all of it.
func BenchmarkMemory(b *testing.B) {
	b.Run("segments=1000", func(b *testing.B) {
		dir := b.TempDir()
		workload.Build(b, "segments", dir)
		workload.Memory(b, func() (any, error) {
			l := openIn(b, dir, small)
			records, _, err := scanBorrowed(l)
			if records != l.End() || len(l.Segments()) < workload.Segments() {
				err = errors.Join(err, fmt.Errorf("%d records of %d in %d segments", records, l.End(), len(l.Segments())))
			}
			return l, err
		})
	})
}

var small = log.Options{SegmentBytes: workload.SmallSegment}

// writeSegments writes the log that BenchmarkMemory opens.
func writeSegments(dir string, _ func()) error {
	l, err := log.Open(context.Background(), dir, small)
	if err != nil {
		return err
	}
	for recs := batch(50, 100); len(l.Segments()) < workload.Segments(); {
		if _, err := l.Append(recs...); err != nil {
			return err
		}
	}
	return l.Close()
}

// BenchmarkDisk is what a record of 100 bytes takes on disk beyond them, of a
// log that was closed.
func BenchmarkDisk(b *testing.B) {
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprintf("100B/batch=%d", count), func(b *testing.B) {
			dir := b.TempDir()
			for range b.N {
				l, err := log.Open(context.Background(), dir, log.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if l.End() == 0 {
					fill(b, l, workload.Records(), count, 100)
				}
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
			}
			workload.Disk(b, dir, workload.Records(), 100)
		})
	}
}
