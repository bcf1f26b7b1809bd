package bench

import (
	"fmt"
	"testing"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// BenchmarkScan walks records that the caller owns, or borrows; checksums are
// verified.
func BenchmarkScan(b *testing.B) {
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprintf("100B/batch=%d/owned", count), func(b *testing.B) { scan(b, count, scanOwned) })
		b.Run(fmt.Sprintf("100B/batch=%d/borrowed", count), func(b *testing.B) { scan(b, count, scanBorrowed) })
	}
}

func scan(b *testing.B, count int, walk func(*log.Log) (records, bytes int64, err error)) {
	l := open(b, log.Options{})
	fill(b, l, workload.Records(), count, 100)
	workload.Scan(b, 100, func() (int64, int64, error) { return walk(l) })
}

func scanOwned(l *log.Log) (records, bytes int64, err error) {
	for rec, err := range l.From(0) {
		if err != nil {
			return 0, 0, err
		}
		records++
		bytes += int64(len(rec.Value))
	}
	return records, bytes, nil
}

// scanBorrowed walks all there is in the log's own memory.
func scanBorrowed(l *log.Log) (records, bytes int64, err error) {
	var d record.Decoder
	var rec record.Record
	for offset := l.First(); offset < l.End(); {
		v, err := l.Borrow(offset, 1<<20)
		if err != nil {
			return 0, 0, err
		}
		for batch := range v.Batches() {
			if err := d.Reset(batch); err != nil {
				return 0, 0, err
			}
			for {
				ok, err := d.Next(&rec)
				if err != nil {
					return 0, 0, err
				}
				if !ok {
					break
				}
				records++
				bytes += int64(len(rec.Value))
			}
		}
		offset = v.Next()
		v.Release()
	}
	return records, bytes, nil
}
