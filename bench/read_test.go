package bench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seglog/seglog/log"
)

// BenchmarkRead reads single records at random offsets.
func BenchmarkRead(b *testing.B) {
	l := open(b, log.Options{})
	fill(b, l, scanned, 1, 100)
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Read(rng.Int64N(scanned)); err != nil {
			b.Fatal(err)
		}
	}
	report(b, int64(b.N))
}

// BenchmarkOffsetAt looks random times up in a log of ascending ones.
func BenchmarkOffsetAt(b *testing.B) {
	l := open(b, log.Options{SegmentBytes: 32 << 20})
	recs := batch(1, 100)
	for i := range scanned {
		recs[0].Time = clock.Add(time.Duration(i) * time.Millisecond)
		if _, err := l.Append(recs...); err != nil {
			b.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		want := rng.Int64N(scanned)
		got, err := l.OffsetAt(clock.Add(time.Duration(want) * time.Millisecond))
		if err != nil || got != want {
			b.Fatal(got, want, err)
		}
	}
}
