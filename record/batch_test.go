package record

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetters(t *testing.T) {
	rs := []Record{{Time: at(7)}, {Time: at(5)}, {Time: at(9)}}
	raw := build(t, BatchOptions{LeaderEpoch: -1}, rs...).Bytes()
	SetBaseOffset(raw, 1<<40)
	SetLeaderEpoch(raw, 77)
	b, err := Parse(raw)
	require.NoError(t, err)
	require.Equal(t, int64(1<<40), b.BaseOffset)
	require.Equal(t, int32(77), b.LeaderEpoch)
	require.Equal(t, int64(1<<40+2), readAllRecords(t, b)[2].Offset)

	SetLogAppendTime(raw, 1000)
	b, err = Parse(raw)
	require.NoError(t, err)
	require.NoError(t, Validate(b, new(Decoder)))
	for _, r := range readAllRecords(t, b) {
		require.Equal(t, at(1000), r.Time)
		require.Equal(t, LogAppendTime, r.TimestampType)
	}

	SetCreateTime(raw, 8)
	b, err = Parse(raw)
	require.NoError(t, err)
	require.ErrorIs(t, Validate(b, new(Decoder)), ErrCorrupt, "8 is not the largest")
	SetCreateTime(raw, 9)
	b, err = Parse(raw)
	require.NoError(t, err)
	require.NoError(t, Validate(b, new(Decoder)))
	require.Equal(t, at(5), readAllRecords(t, b)[1].Time)
}

func TestLastSequence(t *testing.T) {
	for _, tt := range []struct{ base, delta, want int32 }{
		{-1, 3, -1}, {0, 0, 0}, {5, 2, 7}, {math.MaxInt32, 0, math.MaxInt32}, {math.MaxInt32, 1, 0}, {math.MaxInt32 - 1, 4, 2},
	} {
		require.Equal(t, tt.want, BatchHeader{BaseSequence: tt.base, LastOffsetDelta: tt.delta}.LastSequence(), "%+v", tt)
	}
}
