package record

import (
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
