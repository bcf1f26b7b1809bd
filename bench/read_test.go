package bench

import (
	"context"
	"testing"
	"time"

	"github.com/seglog/seglog/bench/workload"
	"github.com/seglog/seglog/log"
)

// BenchmarkRead reads single records at random offsets.
func BenchmarkRead(b *testing.B) {
	l := open(b, log.Options{})
	fill(b, l, workload.Records(), 1, 100)
	workload.Read(b, 100, func(i int64) ([]byte, error) {
		rec, err := l.Read(i)
		return rec.Value, err
	})
}

// BenchmarkReadInto is BenchmarkRead into memory that is used again.
func BenchmarkReadInto(b *testing.B) {
	l := open(b, log.Options{})
	fill(b, l, workload.Records(), 1, 100)
	var buf []byte
	workload.Read(b, 100, func(i int64) ([]byte, error) {
		rec, grown, err := l.ReadInto(i, buf)
		buf = grown
		return rec.Value, err
	})
}

// BenchmarkOffsetAt looks random times up in a log of ascending ones.
func BenchmarkOffsetAt(b *testing.B) {
	l := open(b, log.Options{SegmentBytes: 32 << 20})
	recs := batch(1, 100)
	for i := range workload.Records() {
		recs[0].Time = workload.Clock.Add(time.Duration(i) * time.Millisecond)
		if _, err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
	}
	workload.ReadAt(b, func(i int64) (int64, error) {
		return l.OffsetAt(workload.Clock.Add(time.Duration(i) * time.Millisecond))
	})
}

// BenchmarkTail is how long a reader that waits at the end waits for a record.
func BenchmarkTail(b *testing.B) {
	l := open(b, log.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	received, ended := make(chan time.Time, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for _, err := range l.Tail(ctx, 0) {
			if err != nil {
				return
			}
			received <- time.Now()
		}
	}()
	recs := batch(1, 100)
	workload.Woken(b, func() error {
		_, err := l.Append(recs...)
		return err
	}, received)
	cancel()
	<-ended
}
