package index

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const base = 1000

// drawOffsets is an index of true entries, with room for some more.
func drawOffsets(t *rapid.T) *Offsets {
	x := NewOffsets(base, make([]byte, 64*OffsetEntrySize), 0)
	e := OffsetEntry{Offset: base - 1}
	for range rapid.IntRange(0, 40).Draw(t, "entries") {
		e.Offset += rapid.Int64Range(1, 50).Draw(t, "offsets")
		e.Position += rapid.Int64Range(1, 5000).Draw(t, "bytes")
		if err := x.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func drawTimes(t *rapid.T) *Times {
	x := NewTimes(base, make([]byte, 64*TimeEntrySize), 0)
	e := TimeEntry{Timestamp: -1, Offset: base}
	for range rapid.IntRange(0, 40).Draw(t, "entries") {
		e.Timestamp += rapid.Int64Range(1, 50).Draw(t, "ms")
		e.Offset += rapid.Int64Range(0, 20).Draw(t, "offsets")
		if err := x.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// A floor is the last entry of a linear scan that is not above.
func TestFloorIsLinearScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawOffsets(t)
		offset := rapid.Int64Range(base-100, base+2200).Draw(t, "offset")
		want, slot := OffsetEntry{Offset: base}, -1
		for i := range x.Len() {
			if e := x.At(i); e.Offset <= offset {
				want, slot = e, i
			}
		}
		if e, i := x.Floor(offset); e != want || i != slot {
			t.Fatalf("Floor(%d) = %v, %d, want %v, %d", offset, e, i, want, slot)
		}
		times := drawTimes(t)
		ms := rapid.Int64Range(-10, 2200).Draw(t, "ms")
		wantTime, slot := TimeEntry{Timestamp: -1, Offset: base}, -1
		for i := range times.Len() {
			if e := times.At(i); e.Timestamp <= ms {
				wantTime, slot = e, i
			}
		}
		if e, i := times.Floor(ms); e != wantTime || i != slot {
			t.Fatalf("Floor(%d) = %v, %d, want %v, %d", ms, e, i, wantTime, slot)
		}
	})
}

func TestTruncateDropsAtAndAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.Int64Range(base-10, base+2200).Draw(t, "offset")
		x := drawOffsets(t)
		before, kept := x.Len(), 0
		for i := range before {
			if x.At(i).Offset < offset {
				kept++
			}
		}
		if x.Truncate(offset); x.Len() != kept {
			t.Fatalf("%d of %d offset entries are left, want %d", x.Len(), before, kept)
		}
		times := drawTimes(t)
		before, kept = times.Len(), 0
		for i := range before {
			if times.At(i).Offset < offset {
				kept++
			}
		}
		if times.Truncate(offset); times.Len() != kept {
			t.Fatalf("%d of %d time entries are left, want %d", times.Len(), before, kept)
		}
	})
}

func TestOffsetsAppendRefuses(t *testing.T) {
	x := NewOffsets(base, make([]byte, 3*OffsetEntrySize), 0)
	require.NoError(t, x.Append(OffsetEntry{base + 5, 100}))
	for _, e := range []OffsetEntry{
		{base + 5, 200}, {base + 4, 200}, {base - 1, 200}, // not above
		{base + math.MaxInt32 + 1, 200}, {base + 6, math.MaxInt32 + 1}, {base + 6, -1}, // out of int32
	} {
		require.Error(t, x.Append(e), "%v", e)
		require.Equal(t, 1, x.Len())
	}
	require.NoError(t, x.Append(OffsetEntry{base + 6, 200}))
	require.NoError(t, x.Append(OffsetEntry{base + math.MaxInt32, math.MaxInt32}))
	require.Equal(t, OffsetEntry{base + math.MaxInt32, math.MaxInt32}, x.Last())
	require.True(t, x.Full())
	require.ErrorContains(t, x.Append(OffsetEntry{base + math.MaxInt32, math.MaxInt32}), "full")
	require.EqualValues(t, 24, x.Bytes())
}

func TestTimesAppendRefuses(t *testing.T) {
	x := NewTimes(base, make([]byte, 3*TimeEntrySize), 0)
	require.NoError(t, x.Append(TimeEntry{-1, base})) // no timestamp: nothing to add
	require.Zero(t, x.Len())
	require.NoError(t, x.Append(TimeEntry{0, base}))
	require.NoError(t, x.Append(TimeEntry{0, base + 7})) // not later: nothing to add
	require.Equal(t, 1, x.Len())
	require.Error(t, x.Append(TimeEntry{5, base - 1}))
	require.Error(t, x.Append(TimeEntry{5, base + math.MaxInt32 + 1}))
	require.NoError(t, x.Append(TimeEntry{5, base + 9}))
	require.Error(t, x.Append(TimeEntry{6, base + 8}))
	require.True(t, x.Full(), "the last slot is for the closing entry")
	require.NoError(t, x.Append(TimeEntry{6, base + 9}))
	require.ErrorContains(t, x.Append(TimeEntry{7, base + 9}), "full")
}

// TestPitfallM3Room: an index exactly full, one short, one over.
func TestPitfallM3Room(t *testing.T) {
	for bytes := range 4 * OffsetEntrySize {
		x := NewOffsets(base, make([]byte, bytes), 0)
		require.Equal(t, bytes/OffsetEntrySize, x.Cap())
		for i := range x.Cap() {
			require.False(t, x.Full())
			require.NoError(t, x.Append(OffsetEntry{base + int64(i), int64(i + 1)}))
		}
		require.True(t, x.Full())
		require.Error(t, x.Append(OffsetEntry{base + 99, 99}))
	}
}

func TestCheck(t *testing.T) {
	entry := func(rel, pos int32) []byte {
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(rel)), uint32(pos))
	}
	good := append(entry(3, 10), entry(5, 20)...)
	for name, c := range map[string]struct {
		mem  []byte
		want int
	}{
		"nothing":            {nil, 0},
		"good":               {good, 2},
		"zero padding":       {append(good[:16:16], make([]byte, 40)...), 2},
		"only padding":       {make([]byte, 40), 0},
		"same offset":        {append(good[:16:16], entry(5, 30)...), 2},
		"same position":      {append(good[:16:16], entry(6, 20)...), 2},
		"negative offset":    {append(good[:16:16], entry(-1, 30)...), 2},
		"negative position":  {append(good[:16:16], entry(6, -1)...), 2},
		"offset behind next": {append(good[:16:16], entry(50, 30)...), 2},
		"position at size":   {append(good[:16:16], entry(6, 100)...), 2},
		"the last that can":  {append(good[:16:16], entry(49, 99)...), 3},
		"position 0":         {entry(0, 0), 0},
	} {
		x := NewOffsets(base, c.mem, len(c.mem)/OffsetEntrySize)
		require.Equal(t, c.want, x.Check(100, base+50), name)
	}
	times := NewTimes(base, make([]byte, 10*TimeEntrySize), 0)
	require.NoError(t, times.Append(TimeEntry{5, base + 1}))
	require.NoError(t, times.Append(TimeEntry{6, base + 1}))
	padded := NewTimes(base, times.mem, 10)
	require.Equal(t, 2, padded.Check(base+50))
	require.Equal(t, 0, padded.Check(base+1))
}

// TestInterval: with the interval it gives, the offset index of a full segment
// fits, and so does the thinner time index.
func TestInterval(t *testing.T) {
	const limit = 10 << 20
	for _, size := range []int64{1, 4096, 1 << 20, 1 << 30, math.MaxInt32} {
		for _, want := range []int64{1, 100, 1024, 4096, 1 << 20} {
			got := Interval(want, size, limit)
			require.GreaterOrEqual(t, got, want)
			require.LessOrEqual(t, size/got*OffsetEntrySize, int64(limit))
			if size*OffsetEntrySize/want < limit/2 {
				require.Equal(t, want, got, "it was not necessary")
			}
		}
	}
}

// TestFloorOfAnyEntries: whatever the entries are like, on a line or not, the
// floor is what going through all of them finds.
func TestFloorOfAnyEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n")
		x := NewOffsets(1000, make([]byte, n*OffsetEntrySize), 0)
		offset := int64(1000)
		var entries []OffsetEntry
		for i := range n {
			step := int64(1)
			if rapid.Bool().Draw(t, "far") {
				step = rapid.Int64Range(1, 1<<24).Draw(t, "step")
			}
			offset += step
			e := OffsetEntry{Offset: offset, Position: int64(i) * 100}
			require.NoError(t, x.Append(e))
			entries = append(entries, e)
		}
		for range 20 {
			target := rapid.Int64Range(990, offset+10).Draw(t, "target")
			if n > 0 && rapid.Bool().Draw(t, "at one") {
				target = rapid.SampledFrom(entries).Draw(t, "entry").Offset + rapid.Int64Range(-1, 1).Draw(t, "beside")
			}
			want, slot := OffsetEntry{Offset: 1000}, -1
			for i, e := range entries {
				if e.Offset <= target {
					want, slot = e, i
				}
			}
			got, at := x.Floor(target)
			require.Equal(t, slot, at)
			require.Equal(t, want, got)
		}
	})
}
