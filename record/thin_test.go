package record

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// left is the records of b that keep says, as Thin leaves them.
func left(t require.TestingT, raw []byte, horizon *int64, keep func(i int) bool) ([]byte, []Record) {
	b, err := Parse(raw)
	require.NoError(t, err)
	var d, other Decoder
	payload, err := d.Payload(b)
	require.NoError(t, err)
	var kept []Raw
	var want []Record
	var r Raw
	cursor, i := NewCursor(&b.BatchHeader, payload), 0
	for rec, err := range other.Records(b) {
		require.NoError(t, err)
		ok, err := cursor.Next(&r)
		require.True(t, ok)
		require.NoError(t, err)
		require.Equal(t, rec.Key, r.Key)
		require.Equal(t, rec.Key == nil, r.Key == nil)
		require.Equal(t, rec.Value == nil, r.Tombstone)
		require.Equal(t, rec.Offset, b.BaseOffset+int64(r.OffsetDelta))
		key, ok := KeyAt(payload[r.At:])
		require.True(t, ok)
		require.Equal(t, rec.Key, key)
		if keep(i) {
			kept = append(kept, r)
			rec.Headers = slices.Clone(rec.Headers)
			want = append(want, rec)
		}
		i++
	}
	ok, err := cursor.Next(&r)
	require.False(t, ok)
	require.NoError(t, err)
	var thinner Thinner
	before := []byte("what is there stays")
	out, err := thinner.Thin(slices.Clone(before), b.BatchHeader, payload, kept, horizon)
	require.NoError(t, err)
	out, is := bytes.CutPrefix(out, before)
	require.True(t, is)
	return out, want
}

// TestThin: what is left of a batch are the records kept, as they were, at their
// offsets and times; the batch says the same of itself otherwise; and thinning
// it again finds the same.
func TestThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := BatchOptions{BaseOffset: rapid.Int64Range(0, 1<<40).Draw(t, "base"), LeaderEpoch: 7,
			Codec: Codec(rapid.IntRange(0, 4).Draw(t, "codec")), Transactional: rapid.Bool().Draw(t, "txn")}
		if rapid.Bool().Draw(t, "producer") {
			o.Producer = &Producer{ID: 5, Epoch: 3, Sequence: 1<<31 - 2}
		}
		if rapid.Bool().Draw(t, "append time") {
			o.TimestampType, o.AppendTime = LogAppendTime, time.UnixMilli(1_700_000_000_000)
		}
		var b Builder
		b.Reset(o)
		n := rapid.IntRange(1, 20).Draw(t, "records")
		for i := range n {
			r := Record{Key: maybe(t, "key"), Value: maybe(t, "value")}
			if ms := rapid.Int64Range(-1, 1<<41).Draw(t, "ms"); ms >= 0 {
				r.Time = time.UnixMilli(ms)
			}
			for range rapid.IntRange(0, 2).Draw(t, "headers") {
				r.Headers = append(r.Headers, Header{Key: fmt.Sprint("h", i), Value: maybe(t, "header")})
			}
			require.NoError(t, b.Add(&r))
		}
		raw, err := b.Build()
		require.NoError(t, err)
		whole, err := Parse(raw)
		require.NoError(t, err)

		keep := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "keep")
		keep[rapid.IntRange(0, n-1).Draw(t, "one")] = true
		var horizon *int64
		if rapid.Bool().Draw(t, "has horizon") {
			at := rapid.Int64Range(0, 1<<42).Draw(t, "horizon")
			horizon = &at
		}
		out, want := left(t, raw, horizon, func(i int) bool { return keep[i] })
		thin, err := Parse(out)
		require.NoError(t, err)
		var d Decoder
		require.NoError(t, Validate(thin, &d))
		require.Equal(t, want, decodeAll(t, thin))

		h := thin.BatchHeader
		at, has := h.DeleteHorizon()
		require.Equal(t, horizon != nil, has)
		if has {
			require.Equal(t, *horizon, at)
		} else if !want[0].Time.IsZero() {
			require.Equal(t, want[0].Time.UnixMilli(), h.BaseTimestamp)
		}
		h.Size, h.CRC, h.Count, h.BaseTimestamp = whole.Size, whole.CRC, whole.Count, whole.BaseTimestamp
		h.Attributes &^= attrDeleteHorizon
		if whole.TimestampType() == CreateTime {
			h.MaxTimestamp = whole.MaxTimestamp
		}
		require.Equal(t, whole.BatchHeader, h)

		again, _ := left(t, out, nil, func(int) bool { return true })
		require.Equal(t, out, again)
	})
}

func maybe(t *rapid.T, name string) []byte {
	if rapid.IntRange(0, 3).Draw(t, name+" is null") == 0 {
		return nil
	}
	return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, name)...)
}

func decodeAll(t require.TestingT, b Batch) (list []Record) {
	var d Decoder
	for r, err := range d.Records(b) {
		require.NoError(t, err)
		r.Headers = slices.Clone(r.Headers)
		list = append(list, r)
	}
	return list
}

// TestEmptied: the header is all that stays, without codec and horizon.
func TestEmptied(t *testing.T) {
	for _, attributes := range []int16{0x00, 0x44, 0x1b, 0x70} {
		h := BatchHeader{BaseOffset: 9, LeaderEpoch: 2, Attributes: attributes, LastOffsetDelta: 4, BaseTimestamp: 11,
			MaxTimestamp: 12, ProducerID: 5, ProducerEpoch: 1, BaseSequence: 8, Count: 3, Size: 500}
		b, err := Parse(Emptied(h))
		require.NoError(t, err)
		var d Decoder
		require.NoError(t, Validate(b, &d))
		require.Equal(t, HeaderSize, b.Size)
		require.Equal(t, attributes&0x38, b.Attributes)
		h.Size, h.CRC, h.Attributes, h.Count, h.BaseTimestamp = b.Size, b.CRC, b.Attributes, 0, -1
		require.Equal(t, h, b.BatchHeader)
	}
}

// TestCursorDamage: bytes that are no records are an error, wherever they end.
func TestCursorDamage(t *testing.T) {
	var b Builder
	for i := range 3 {
		require.NoError(t, b.Add(&Record{Key: []byte{byte(i)}, Value: []byte("value")}))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	h, err := ParseHeader(raw)
	require.NoError(t, err)
	payload := raw[HeaderSize:]
	walk := func(h BatchHeader, payload []byte) error {
		var r Raw
		for c := NewCursor(&h, payload); ; {
			if ok, err := c.Next(&r); !ok || err != nil {
				return err
			}
		}
	}
	require.NoError(t, walk(h, payload))
	for n := range payload {
		require.ErrorIs(t, walk(h, payload[:n]), ErrCorrupt)
	}
	require.ErrorIs(t, walk(h, append(slices.Clone(payload), 0)), ErrCorrupt)
	h.LastOffsetDelta = 1
	require.ErrorIs(t, walk(h, payload), ErrCorrupt)
	_, ok := KeyAt(nil)
	require.False(t, ok)
}
