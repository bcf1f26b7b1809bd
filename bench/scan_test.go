package bench

import (
	"fmt"
	"testing"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

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

const scanned = 1_000_000

// BenchmarkScan walks records that the caller owns; checksums are verified.
func BenchmarkScan(b *testing.B) {
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprintf("100B/batch=%d/owned", count), func(b *testing.B) {
			l := open(b, log.Options{})
			fill(b, l, scanned, count, 100)
			b.SetBytes(scanned * 100)
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for rec, err := range l.From(0) {
					if err != nil {
						b.Fatal(err)
					}
					n += len(rec.Value)
				}
				if n != scanned*100 {
					b.Fatalf("%d bytes", n)
				}
			}
			report(b, int64(b.N)*scanned)
		})
		b.Run(fmt.Sprintf("100B/batch=%d/borrowed", count), func(b *testing.B) {
			l := open(b, log.Options{})
			fill(b, l, scanned, count, 100)
			b.SetBytes(scanned * 100)
			b.ReportAllocs()
			for b.Loop() {
				if n := scanBorrowed(b, l); n != scanned*100 {
					b.Fatalf("%d bytes", n)
				}
			}
			report(b, int64(b.N)*scanned)
		})
	}
}

func scanBorrowed(b *testing.B, l *log.Log) (n int) {
	var d record.Decoder
	var rec record.Record
	for offset := int64(0); offset < l.End(); {
		v, err := l.Borrow(offset, 1<<20)
		if err != nil {
			b.Fatal(err)
		}
		for batch := range v.Batches() {
			if err := d.Reset(batch); err != nil {
				b.Fatal(err)
			}
			for {
				ok, err := d.Next(&rec)
				if err != nil {
					b.Fatal(err)
				}
				if !ok {
					break
				}
				n += len(rec.Value)
			}
		}
		offset = v.Next()
		v.Release()
	}
	return n
}
