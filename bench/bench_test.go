package bench

import (
	"context"
	"testing"
	"time"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// batch is count records of size bytes each, with times.
func batch(count, size int) []record.Record { return timed(workload.Values(count, size)) }

// timed is values as records a millisecond apart.
func timed(values [][]byte) []record.Record {
	recs := make([]record.Record, len(values))
	for i, value := range values {
		recs[i] = record.Record{Time: workload.Clock.Add(time.Duration(i) * time.Millisecond), Value: value}
	}
	return recs
}

func open(b *testing.B, o log.Options) *log.Log {
	b.Helper()
	return openIn(b, b.TempDir(), o)
}

func openIn(b *testing.B, dir string, o log.Options) *log.Log {
	b.Helper()
	l, err := log.Open(context.Background(), dir, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

// store is l as the workloads of appending see it.
func store(l *log.Log, recs []record.Record, size int, appends func() error) workload.Store {
	return workload.Store{
		Append:  appends,
		Recycle: func() error { return l.DropBefore(l.End()) },
		Held:    func() (int64, error) { records, _, err := scanBorrowed(l); return records, err },
		Count:   len(recs),
		Size:    size,
	}
}

// fill appends total records of size bytes in batches of count.
func fill(b *testing.B, l *log.Log, total, count, bytes int) {
	b.Helper()
	recs := batch(count, bytes)
	for range total / count {
		if _, err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
	}
}
