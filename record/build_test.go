package record

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRefusedRecordLeavesBuilderUnchanged(t *testing.T) {
	good := Record{Time: at(5), Value: []byte("v")}
	want := build(t, BatchOptions{}, good, good).Bytes()
	huge := make([]byte, 1000)
	bad := []struct {
		name string
		r    Record
		err  error
	}{
		{"before 1970", Record{Time: time.Unix(0, -1)}, ErrInvalid},
		{"long before 1970", Record{Time: time.Unix(-1<<60, 0)}, ErrInvalid},
		{"past the last millisecond", Record{Time: time.Unix(math.MaxInt64/1000, 0)}, ErrInvalid},
		{"value", Record{Value: huge}, ErrTooLarge},
		{"key", Record{Key: huge}, ErrTooLarge},
		{"header value", Record{Headers: []Header{{"k", huge}}}, ErrTooLarge},
		{"header key", Record{Headers: []Header{{string(huge), nil}}}, ErrTooLarge},
		{"headers", Record{Headers: make([]Header, MaxHeaders+1)}, ErrTooLarge},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			var b Builder
			b.Reset(BatchOptions{MaxBytes: 200})
			require.ErrorIs(t, b.Add(&tt.r), tt.err)
			require.NoError(t, b.Add(&good))
			require.ErrorIs(t, b.Add(&tt.r), tt.err)
			require.NoError(t, b.Add(&good))
			require.ErrorIs(t, b.Add(&tt.r), tt.err)
			raw, err := b.Build()
			require.NoError(t, err)
			require.Equal(t, want, raw)
		})
	}
}

// The limit is exact: a batch of MaxBytes is built, and the same record is
// refused where one byte is missing.
func TestBuilderLimit(t *testing.T) {
	r := Record{Key: []byte("key"), Value: make([]byte, 300), Headers: []Header{{"k", []byte("v")}}}
	size := build(t, BatchOptions{}, r).Size
	build(t, BatchOptions{MaxBytes: size}, r)
	var b Builder
	b.Reset(BatchOptions{MaxBytes: size - 1})
	require.ErrorIs(t, b.Add(&r), ErrTooLarge)
	require.Equal(t, HeaderSize, b.Size())
	require.Zero(t, b.Count())
}

// What the Builder's limit lets through, the Decoder's lets through.
func TestLimitsAgree(t *testing.T) {
	value := make([]byte, DefaultMaxBytes-HeaderSize-13) // the 13 are the rest of the record
	for _, c := range []Codec{None, LZ4, Zstd} {
		b := build(t, BatchOptions{Codec: c}, Record{Value: value})
		require.NoError(t, Validate(b, new(Decoder)), c)
	}
	var b Builder
	b.Reset(BatchOptions{})
	require.ErrorIs(t, b.Add(&Record{Value: append(value, 0)}), ErrTooLarge)

	b.Reset(BatchOptions{})
	require.ErrorIs(t, b.Add(&Record{Headers: make([]Header, MaxHeaders+1)}), ErrTooLarge)
	many := Record{Headers: make([]Header, MaxHeaders)}
	require.Len(t, readAllRecords(t, build(t, BatchOptions{}, many))[0].Headers, MaxHeaders)
}

func TestBuilderInvalid(t *testing.T) {
	for _, o := range []BatchOptions{
		{BaseOffset: -1},
		{Codec: 5},
		{Codec: -1},
		{TimestampType: 2},
		{TimestampType: LogAppendTime},
		{TimestampType: LogAppendTime, AppendTime: time.Unix(-1, 0)},
		{Producer: &Producer{ID: -1}},
		{Producer: &Producer{Epoch: -1}},
		{Producer: &Producer{Sequence: -2}},
	} {
		var b Builder
		b.Reset(o)
		require.ErrorIs(t, b.Add(&Record{}), ErrInvalid, "%+v", o)
		_, err := b.Build()
		require.ErrorIs(t, err, ErrInvalid, "%+v", o)
	}
	var b Builder
	_, err := b.Build()
	require.ErrorIs(t, err, ErrInvalid, "no records")
	b.Reset(BatchOptions{BaseOffset: math.MaxInt64 - 1})
	require.NoError(t, b.Add(&Record{}))
	raw, err := b.Build()
	require.NoError(t, err)
	require.ErrorIs(t, b.Add(&Record{}), ErrInvalid, "finished")
	again, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, raw, again)
	b.Reset(BatchOptions{BaseOffset: math.MaxInt64})
	require.NoError(t, b.Add(&Record{}))
	_, err = b.Build()
	require.ErrorIs(t, err, ErrInvalid, "past the last offset")
}

// TestSetProducer: the same batch comes from options, from a Builder told before
// Build, and from encoded bytes told afterwards.
func TestSetProducer(t *testing.T) {
	p := Producer{ID: 1 << 40, Epoch: 7, Sequence: 9}
	build := func(o BatchOptions, between func(*Builder)) []byte {
		var b Builder
		b.Grow(1000)
		b.Reset(o)
		require.NoError(t, b.Add(&Record{Value: []byte("v")}))
		between(&b)
		raw, err := b.Build()
		require.NoError(t, err)
		return bytes.Clone(raw)
	}
	want := build(BatchOptions{Producer: &p}, func(*Builder) {})
	require.Equal(t, want, build(BatchOptions{}, func(b *Builder) { b.SetProducer(p) }))
	late := build(BatchOptions{Producer: &Producer{ID: 3, Epoch: 1}}, func(*Builder) {})
	SetProducer(late, p)
	require.Equal(t, want, late)

	var b Builder
	require.NoError(t, b.Add(&Record{}))
	b.SetProducer(Producer{ID: -1})
	_, err := b.Build()
	require.ErrorIs(t, err, ErrInvalid)
}
