package record

import (
	"fmt"
	"testing"
	"time"
)

// benchRecords gives records of 100 bytes, ten to a millisecond.
func benchRecords(n int) []Record {
	rs := make([]Record, n)
	for i := range rs {
		value := make([]byte, 100)
		for j := range value {
			value[j] = byte('a' + (i*7+j)%23)
		}
		rs[i] = Record{Time: time.UnixMilli(1700000000000 + int64(i/10)), Value: value}
	}
	return rs
}

func reportRecords(b *testing.B, perOp int) {
	n := float64(b.N) * float64(perOp)
	b.ReportMetric(n/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/record")
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1, 100} {
		for c := None; c.valid(); c++ {
			b.Run(fmt.Sprintf("100B/batch=%d/codec=%v", n, c), func(b *testing.B) {
				rs := benchRecords(n)
				var bld Builder
				b.ReportAllocs()
				for b.Loop() {
					bld.Reset(BatchOptions{Codec: c})
					for i := range rs {
						if err := bld.Add(&rs[i]); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := bld.Build(); err != nil {
						b.Fatal(err)
					}
				}
				reportRecords(b, n)
			})
		}
	}
}

// BenchmarkDraft is the building of a batch in its place, of which nothing is copied
// but into it.
func BenchmarkDraft(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("100B/batch=%d", n), func(b *testing.B) {
			rs := benchRecords(n)
			var d Draft
			dst := make([]byte, 64<<10)
			b.ReportAllocs()
			for b.Loop() {
				if !d.Reset(rs, CreateTime, len(dst), time.Now) {
					b.Fatal("refused")
				}
				if err := d.Encode(dst, rs); err != nil {
					b.Fatal(err)
				}
			}
			reportRecords(b, n)
		})
	}
}

func benchBatch(tb testing.TB, rs []Record, c Codec) Batch {
	tb.Helper()
	var bld Builder
	bld.Reset(BatchOptions{Codec: c})
	for i := range rs {
		if err := bld.Add(&rs[i]); err != nil {
			tb.Fatal(err)
		}
	}
	raw, err := bld.Build()
	if err != nil {
		tb.Fatal(err)
	}
	batch, err := Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return batch
}

func BenchmarkRecords(b *testing.B) {
	for c := None; c.valid(); c++ {
		b.Run(fmt.Sprintf("100B/batch=100/codec=%v/by=next", c), func(b *testing.B) {
			batch := benchBatch(b, benchRecords(100), c)
			var d Decoder
			var r Record
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Reset(batch); err != nil {
					b.Fatal(err)
				}
				for {
					ok, err := d.Next(&r)
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
				}
			}
			reportRecords(b, 100)
		})
	}
	b.Run("100B/batch=100/codec=none/times=distinct", func(b *testing.B) {
		rs := benchRecords(100)
		for i := range rs {
			rs[i].Time = rs[0].Time.Add(time.Duration(i) * time.Millisecond)
		}
		batch := benchBatch(b, rs, None)
		var d Decoder
		var r Record
		b.ReportAllocs()
		for b.Loop() {
			if err := d.Reset(batch); err != nil {
				b.Fatal(err)
			}
			for ok, err := d.Next(&r); ok || err != nil; ok, err = d.Next(&r) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		reportRecords(b, 100)
	})
	b.Run("100B/batch=100/codec=none/by=range", func(b *testing.B) {
		batch := benchBatch(b, benchRecords(100), None)
		var d Decoder
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range d.Records(batch) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		reportRecords(b, 100)
	})
	b.Run("100B/batch=100/codec=none/headers=4", func(b *testing.B) {
		rs := benchRecords(100)
		for i := range rs {
			rs[i].Headers = []Header{{"a", nil}, {"trace", rs[i].Value[:8]}, {"b", nil}, {"content-type", rs[i].Value[:5]}}
		}
		batch := benchBatch(b, rs, None)
		var d Decoder
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range d.Records(batch) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		reportRecords(b, 100)
	})
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("100B/batch=%d", n), func(b *testing.B) {
			raw := benchBatch(b, benchRecords(n), None).Bytes()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := Parse(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
