package log_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// scan is OffsetAt by looking at everything.
func scan(t require.TestingT, l *log.Log, at time.Time) int64 {
	for r, err := range l.From(l.First()) {
		require.NoError(t, err)
		if !r.Time.IsZero() && r.Time.UnixMilli() >= at.UnixMilli() {
			return r.Offset
		}
	}
	return l.End()
}

// TestPitfallL3: lookups by time are a linear scan's, on logs whose clocks go
// backwards and repeat, whatever was dropped, reopened and killed.
func TestPitfallL3OffsetAtIsALinearScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := vfs.NewMem()
		now := someTime
		o := log.Options{
			SegmentBytes:  int64(rapid.SampledFrom([]int{300, 1 << 10, 30 << 10}).Draw(t, "segment")),
			IndexInterval: int64(rapid.SampledFrom([]int{0, 1, 200}).Draw(t, "interval")),
			Compression:   record.Codec(rapid.IntRange(0, 4).Draw(t, "codec")),
			TimestampType: record.TimestampType(rapid.IntRange(0, 1).Draw(t, "type")),
			Env:           log.Env{FS: mem, Now: func() time.Time { return now }},
		}
		l, err := log.Open(ctx, "log", o)
		require.NoError(t, err)
		reopen := func() {
			l, err = log.Open(ctx, "log", o)
			require.NoError(t, err)
		}
		second := func(what string) time.Time {
			return someTime.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, what)) * time.Second)
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = second("clock")
			switch rapid.IntRange(0, 20).Draw(t, "step") {
			case 0:
				require.NoError(t, l.Close())
				reopen()
			case 1:
				mem = mem.Kill()
				_ = l.Close()
				o.Env.FS = mem
				reopen()
			case 2:
				require.NoError(t, l.DropBefore(rapid.Int64Range(l.First(), l.End()).Draw(t, "before")))
			case 3:
				require.NoError(t, l.DropFrom(rapid.Int64Range(l.First(), l.End()).Draw(t, "from")))
			case 4: // records without times, which only another program writes
				raw := encode(t, record.BatchOptions{BaseOffset: l.End() + 1}, rec("a"), rec("b"))
				_, err := l.AppendBatch(raw, log.FromLeader)
				require.NoError(t, err)
			default:
				var records []record.Record
				for range rapid.IntRange(1, 3).Draw(t, "records") {
					r := rec("x")
					if rapid.Bool().Draw(t, "own") {
						r.Time = second("time")
					}
					records = append(records, r)
				}
				_, err := l.Append(records...)
				require.NoError(t, err)
			}
			at := second("at")
			got, err := l.OffsetAt(at)
			require.NoError(t, err)
			require.Equal(t, scan(t, l, at), got)
		}
		for _, at := range append(everySecond(), time.Time{}, time.UnixMilli(0), someTime.Add(-time.Millisecond)) {
			want := scan(t, l, at)
			got, err := l.OffsetAt(at)
			require.NoError(t, err)
			require.Equal(t, want, got, "at %v", at)
			told, err := l.ExplainAt(at)
			require.NoError(t, err)
			require.Equal(t, want, told.Offset)
			require.Equal(t, want < l.End(), told.Found)
		}
		require.NoError(t, l.Close())
	})
}

func everySecond() (list []time.Time) {
	for s := range 32 {
		list = append(list, someTime.Add(time.Duration(s)*time.Second))
	}
	return list
}

// TestPitfallL1: a hole takes nobody's time; what was dropped is not found.
func TestPitfallL1AndL5(t *testing.T) {
	l, _, _ := inMem(t, small())
	for i := range 20 {
		_, err := l.Append(timed(value(i), time.Duration(i)*time.Second))
		require.NoError(t, err)
	}
	_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: 30}, timed("behind a hole", time.Hour)), log.FromLeader)
	require.NoError(t, err)
	for _, first := range []int64{0, 3, 5, 12, 20, 25} {
		require.NoError(t, l.DropBefore(first))
		got, err := l.OffsetAt(time.Time{})
		require.NoError(t, err)
		want := first
		if first >= 20 {
			want = 30
		}
		assert.Equal(t, want, got, "the zero time is First, L5")
		got, err = l.OffsetAt(someTime.Add(4 * time.Second))
		require.NoError(t, err)
		assert.Equal(t, max(want, 4), got)
	}
	got, err := l.OffsetAt(someTime.Add(2 * time.Hour))
	require.NoError(t, err)
	assert.Equal(t, l.End(), got)
}
