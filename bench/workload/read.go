package workload

import (
	"math/rand/v2"
	"testing"
)

// Scan times scan, which walks Records records of size bytes and returns how
// many there were and how many bytes they had.
func Scan(b *testing.B, size int, scan func() (records, bytes int64, err error)) {
	b.Helper()
	want := int64(Records())
	b.SetBytes(want * int64(size))
	b.ReportAllocs()
	walks := int64(0)
	for b.Loop() {
		records, bytes, err := scan()
		if err != nil {
			b.Fatal(err)
		}
		if records != want || bytes != want*int64(size) {
			b.Fatalf("%d records of %d bytes were written, and %d of %d read", want, want*int64(size), records, bytes)
		}
		walks++
	}
	Rate(b, walks*want)
}

// Read times read of random ones of Records records.
func Read(b *testing.B, size int, read func(i int64) (value []byte, err error)) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		value, err := read(rng.Int64N(int64(Records())))
		if err != nil {
			b.Fatal(err)
		}
		if len(value) != size {
			b.Fatalf("%d bytes", len(value))
		}
		n++
	}
	Rate(b, n)
}

// ReadAt times lookup of the times of random ones of Records records, of which
// the i-th has Clock and i milliseconds.
func ReadAt(b *testing.B, lookup func(i int64) (got int64, err error)) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		want := rng.Int64N(int64(Records()))
		got, err := lookup(want)
		if err != nil || got != want {
			b.Fatalf("looking for record %d: %d, %v", want, got, err)
		}
		n++
	}
	Rate(b, n)
}
