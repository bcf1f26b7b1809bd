package record

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestDraftIsWhatABuilderBuilds, byte for byte, in a place that had other bytes.
func TestDraftIsWhatABuilderBuilds(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_123)
	clock := func() time.Time { return now }
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 20).Draw(t, "records")
		o := BatchOptions{
			BaseOffset:    rapid.Int64Range(0, 1<<40).Draw(t, "base"),
			LeaderEpoch:   rapid.Int32Range(-1, 9).Draw(t, "epoch"),
			TimestampType: rapid.SampledFrom([]TimestampType{CreateTime, LogAppendTime}).Draw(t, "type"),
			AppendTime:    now,
		}
		b := new(Builder)
		b.Reset(o)
		for _, r := range records {
			if r.Time.IsZero() {
				r.Time = now
			}
			require.NoError(t, b.Add(&r))
		}
		want, err := b.Build()
		require.NoError(t, err)

		var d Draft
		require.True(t, d.Reset(records, o.TimestampType, DefaultMaxBytes, clock))
		require.GreaterOrEqual(t, d.Bound(), len(want))
		d.BaseOffset, d.LeaderEpoch = o.BaseOffset, o.LeaderEpoch
		got := make([]byte, d.Bound()+7)
		for i := range got {
			got[i] = 0xa5
		}
		require.NoError(t, d.Encode(got[:d.Bound()], records))
		for i := range FrameSize {
			require.EqualValues(t, 0xa5, got[i], "the frame is for the owner to write")
		}
		for i := d.Size; i < len(got); i++ {
			require.EqualValues(t, 0xa5, got[i], "nothing is written behind the batch")
		}
		d.Frame((*[FrameSize]byte)(got))
		require.Equal(t, want, got[:d.Size])
		h, err := ParseHeader(want)
		require.NoError(t, err)
		require.Equal(t, h, d.BatchHeader)
	})
}

// TestDraftOfAnyLengths: where an integer becomes a byte longer, a Draft encodes what a
// Builder does, nothing behind it, and its bound holds.
func TestDraftOfAnyLengths(t *testing.T) {
	lengths := []int{-1, 0, 1, 2, 3, 8, 62, 63, 64, 65, 127, 128, 8090, 8110, 8120, 8130, 8140, 8150, 8155, 8156, 8157, 8158, 8160,
		8170, 8180, 8191, 8192, 8193, 16383, 16384}
	var records []Record
	for _, key := range lengths {
		for _, value := range lengths {
			for _, delta := range []int64{0, 63, 64, -64, -65, 8191, 8192, -8192, -8193, 1 << 40} {
				r := Record{Time: time.UnixMilli(1<<40 + delta)}
				if key >= 0 {
					r.Key = bytes.Repeat([]byte{0x11}, key)
				}
				if value >= 0 {
					r.Value = bytes.Repeat([]byte{0x22}, value)
				}
				records = append(records, r)
			}
		}
	}
	for batch := range slices.Chunk(records, 140) { // of more than 63
		batch[0].Time = time.UnixMilli(1 << 40)
		var b Builder
		b.Reset(BatchOptions{MaxBytes: 1 << 30})
		for i := range batch {
			require.NoError(t, b.Add(&batch[i]))
			var d Draft
			require.True(t, d.Reset(batch[i:i+1], CreateTime, 1<<30, time.Now))
			exact := make([]byte, d.Bound(), d.Bound()+1)
			require.NoError(t, d.Encode(exact, batch[i:i+1]))
			require.Zero(t, exact[:cap(exact)][d.Size], "nothing is written behind the batch")
		}
		want, err := b.Build()
		require.NoError(t, err)
		var d Draft
		require.True(t, d.Reset(batch, CreateTime, 1<<30, time.Now))
		got := bytes.Repeat([]byte{0xa5}, d.Bound())
		require.NoError(t, d.Encode(got, batch))
		d.LeaderEpoch, d.BaseOffset = 0, 0
		d.Frame((*[FrameSize]byte)(got))
		require.True(t, bytes.Equal(want[posMagic:], got[posMagic:d.Size]))
		for _, c := range got[d.Size:] {
			require.EqualValues(t, 0xa5, c, "nothing is written behind the batch")
		}
	}
}

// TestDraftOfDoubtfulRecords: what a Builder refuses, and what may be over the
// limit, is no Draft.
func TestDraftOfDoubtfulRecords(t *testing.T) {
	clock := func() time.Time { return time.UnixMilli(1) }
	many := make([]Header, MaxHeaders+1)
	for name, r := range map[string]Record{
		"before 1970":          {Time: time.Unix(-1, 0)},
		"after all time":       {Time: time.Unix(1<<60, 0)},
		"headers":              {Headers: many},
		"value over the limit": {Value: make([]byte, 1000)},
		"key over the limit":   {Key: make([]byte, 1000)},
		"header":               {Headers: []Header{{Key: string(make([]byte, 500)), Value: make([]byte, 500)}}},
	} {
		var d Draft
		require.False(t, d.Reset([]Record{{}, r}, CreateTime, 1000, clock), name)
		require.True(t, d.Reset([]Record{{}, {}}, CreateTime, 1000, clock), name)
	}
	var d Draft
	require.False(t, d.Reset(nil, CreateTime, 1000, clock), "no records")
	require.False(t, d.Reset([]Record{{}}, CreateTime, 1000, func() time.Time { return time.Unix(-5, 0) }), "the clock")
	require.False(t, d.Reset([]Record{{Time: clock()}}, LogAppendTime, 1000, func() time.Time { return time.Time{} }), "no time at all")
}

// TestDraftOfChangedRecords: a record that grew since it was looked over.
func TestDraftOfChangedRecords(t *testing.T) {
	records := []Record{{Value: []byte("a")}, {Value: []byte("b")}}
	var d Draft
	require.True(t, d.Reset(records, CreateTime, 1000, func() time.Time { return time.UnixMilli(1) }))
	records[1].Value = make([]byte, 500)
	require.ErrorIs(t, d.Encode(make([]byte, d.Bound()), records), ErrInvalid)
}
