package record

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawBytes draws null, empty and other values.
func drawBytes(t *rapid.T, name string) []byte {
	switch rapid.IntRange(0, 5).Draw(t, name+" kind") {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2: // compressible, and lengths of two bytes and more
		b := make([]byte, rapid.IntRange(60, 70_000).Draw(t, name+" size"))
		for i := range b {
			b[i] = byte(i / 7)
		}
		return b
	}
	return rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, name)
}

func drawTime(t *rapid.T) time.Time {
	switch rapid.IntRange(0, 3).Draw(t, "time kind") {
	case 0:
		return time.Time{}
	case 1: // the extremes
		return at(rapid.SampledFrom([]int64{0, 1, math.MaxInt64/1000*1000 - 1000}).Draw(t, "time"))
	}
	return at(1700000000000 + rapid.Int64Range(-100_000, 100_000).Draw(t, "time"))
}

func drawRecord(t *rapid.T) Record {
	r := Record{Time: drawTime(t), Key: drawBytes(t, "key"), Value: drawBytes(t, "value")}
	for range rapid.IntRange(0, 3).Draw(t, "headers") {
		r.Headers = append(r.Headers, Header{Key: rapid.String().Draw(t, "header key"), Value: drawBytes(t, "header value")})
	}
	return r
}

func drawOptions(t *rapid.T) BatchOptions {
	o := BatchOptions{
		BaseOffset:    rapid.Int64Range(0, math.MaxInt64-1000).Draw(t, "base offset"),
		LeaderEpoch:   rapid.Int32Min(-1).Draw(t, "epoch"),
		Codec:         Codec(rapid.IntRange(0, 4).Draw(t, "codec")),
		Transactional: rapid.Bool().Draw(t, "transactional"),
	}
	if rapid.Bool().Draw(t, "log append time") {
		o.TimestampType, o.AppendTime = LogAppendTime, at(rapid.Int64Range(0, 1<<45).Draw(t, "append time"))
	}
	if rapid.Bool().Draw(t, "producer") {
		o.Producer = &Producer{
			ID:       rapid.Int64Min(0).Draw(t, "producer id"),
			Epoch:    rapid.Int16Min(0).Draw(t, "producer epoch"),
			Sequence: rapid.Int32Min(0).Draw(t, "sequence"),
		}
	}
	return o
}

// What a Builder accepts, a Decoder reads: every record as it was, with null
// and empty kept apart.
func TestRoundTrip(t *testing.T) {
	var b Builder // reused, as its users do
	var d Decoder
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		in := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 12).Draw(t, "records")
		b.Reset(o)
		for i := range in {
			size := b.Size()
			require.NoError(t, b.Add(&in[i]))
			require.Greater(t, b.Size(), size)
			require.Equal(t, i+1, b.Count())
		}
		raw, err := b.Build()
		require.NoError(t, err)
		if o.Codec == None {
			require.Len(t, raw, b.Size())
		}
		batch, err := Parse(append(raw, 0xff)[:len(raw)+1])
		require.NoError(t, err)
		require.Equal(t, raw, batch.Bytes())
		require.Equal(t, len(raw), cap(batch.Bytes()), "an append cannot reach what follows")
		o.MaxBytes = MaxBatchSize
		require.Equal(t, o, optionsOf(batch))
		require.Equal(t, o.BaseOffset+int64(len(in)), batch.NextOffset())
		require.NoError(t, Validate(batch, &d))

		n := 0
		for got, err := range d.Records(batch) {
			require.NoError(t, err)
			want := in[n]
			want.Offset = o.BaseOffset + int64(n)
			want.TimestampType = o.TimestampType
			if o.TimestampType == LogAppendTime {
				want.Time = o.AppendTime
			}
			require.Equal(t, want, got)
			n++
		}
		require.Equal(t, len(in), n)
	})
}
