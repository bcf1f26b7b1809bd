package log_test

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

// Each call takes place at one moment. fuzz/concurrent looks for calls that do
// not; here are those that it found, each brought about by something that the
// log calls half way through.

// once is a func that does something the first time it is called.
func once(do func()) func() {
	var o sync.Once
	return func() { o.Do(do) }
}

// TestEpochIsOfTheAppend: a batch that was built before the leader epoch changed
// and appended after it has the new one.
func TestEpochIsOfTheAppend(t *testing.T) {
	var l *log.Log
	change := once(func() { assert.NoError(t, l.SetLeaderEpoch(7)) })
	l, _, _ = inMem(t, log.Options{Env: log.Env{Now: func() time.Time {
		if l != nil {
			change() // the time of a record is taken when it is built
		}
		return time.UnixMilli(1)
	}}})
	_, err := l.Append(rec("x"))
	require.NoError(t, err)
	v, err := l.Borrow(0, 1)
	require.NoError(t, err)
	defer v.Release()
	for b := range v.Batches() {
		assert.Equal(t, int32(7), b.LeaderEpoch)
	}
	assert.Equal(t, []log.EpochEntry{{Epoch: 7, Start: 0}}, l.LeaderEpochs())
}

// TestRetainDropsWhatWasJudged: what a policy let go was cut off while it
// thought, and other records have the offsets; they stay.
func TestRetainDropsWhatWasJudged(t *testing.T) {
	o := small()
	var l *log.Log
	asked := 0
	o.Retention = retention.Floor(func() int64 {
		if asked++; asked == 1 {
			assert.NoError(t, l.DropFrom(3))
			_, err := l.Append(rec(strings.Repeat("new", 200)), rec("new"), rec("new"), rec("new"), rec("new"))
			assert.NoError(t, err)
			fill(t, l, 6)
		}
		return 5
	})
	l, _, _ = inMem(t, o)
	fill(t, l, 12)
	require.Equal(t, []int64{0, 5, 10}, bases(l))
	dropped, err := l.Retain(ctx)
	require.NoError(t, err)
	assert.Equal(t, 2, asked, "asked again")
	assert.Len(t, dropped, 1)
	assert.Equal(t, int64(3), l.First(), "the segment that ends there")

	// And where nothing is left of what was judged, that is no error.
	asked = -1
	require.NoError(t, l.DropFrom(l.First()))
	fill(t, l, 12)
	o.Retention = nil
	asked = 0
	_, err = l.Retain(ctx)
	require.NoError(t, err)
}

// TestWalkEndsWhereTheLogDoes: while DropFrom is at work, End is where it cuts,
// and so it is for a walk.
func TestWalkEndsWhereTheLogDoes(t *testing.T) {
	l, faulty, _ := inMem(t, small())
	fill(t, l, 7)
	require.Equal(t, []int64{0, 5}, bases(l))
	looked := once(func() {
		assert.Equal(t, int64(3), l.End())
		for r, err := range l.From(1) {
			if assert.NoError(t, err) {
				assert.Less(t, r.Offset, int64(3))
			}
		}
		at, err := l.OffsetAt(time.Now().Add(-time.Hour))
		assert.NoError(t, err)
		assert.Equal(t, int64(0), at)
		_, err = l.Borrow(3, 1)
		assert.Error(t, err)
	})
	faulty.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpRemove && filepath.Base(c.Name) == "00000000000000000005.log" {
			looked()
		}
	}
	require.NoError(t, l.DropFrom(3))
	wantValues(t, l)
}

// TestWalkStopsBelowFirst: what is below First is not read, by a walk that is
// under way either.
func TestWalkStopsBelowFirst(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	fill(t, l, 6)
	var got []int64
	var last error
	for r, err := range l.From(0) {
		if last = err; err != nil {
			break
		}
		if got = append(got, r.Offset); r.Offset == 1 {
			require.NoError(t, l.DropBefore(4))
		}
	}
	assert.Equal(t, []int64{0, 1}, got)
	var at *log.OffsetError
	require.ErrorAs(t, last, &at)
	assert.ErrorIs(t, last, log.ErrTrimmed)
	assert.Equal(t, int64(2), at.Offset)
}

// TestReadAcrossTheHighWatermark: a batch that the high watermark lies inside is
// not below it; its records are not there yet, rather than missing.
func TestReadAcrossTheHighWatermark(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	_, err := l.Append(rec("a"), rec("b"), rec("c"))
	require.NoError(t, err)
	require.NoError(t, l.SetHighWatermark(2))
	_, err = l.Isolated(log.ReadUncommitted).Read(1)
	assert.ErrorIs(t, err, log.ErrBeyond)
	_, err = l.Read(1)
	assert.NoError(t, err)
}

// TestNothingAppendedIsMinusOne: an error of AppendSync says whether the records
// are in the log.
func TestNothingAppendedIsMinusOne(t *testing.T) {
	l, faulty, _ := inMem(t, log.Options{SegmentBytes: 1 << 10})
	at, err := l.Append(rec(strings.Repeat("x", 2000)))
	assert.ErrorIs(t, err, record.ErrTooLarge)
	assert.Equal(t, int64(-1), at)
	at, err = l.Append(rec("x"))
	require.NoError(t, err)
	require.Zero(t, at)
	require.NoError(t, l.DropFrom(0))
	faulty.Add(vfs.Rule{Op: vfs.OpSync, Path: "*.log", Err: syscall.EIO})
	at, err = l.AppendSync(ctx, rec("x"))
	assert.ErrorIs(t, err, log.ErrFailed)
	assert.Zero(t, at, "appended, and not durable")
	at, err = l.AppendSync(ctx, rec("x"))
	assert.ErrorIs(t, err, log.ErrFailed)
	assert.Equal(t, int64(-1), at)
	at, err = l.Append()
	assert.ErrorIs(t, err, log.ErrFailed)
	assert.Equal(t, int64(-1), at)
}

// TestRefusedDropTellsOfNone: a DropFrom that changed nothing calls no hook.
func TestRefusedDropTellsOfNone(t *testing.T) {
	var told atomic.Int64
	o := small()
	o.Trace.Dropped = func(log.DropEvent) { told.Add(1) }
	l, faulty, _ := inMem(t, o)
	fill(t, l, 12)
	require.NoError(t, l.Sync(ctx))
	full := faulty.Add(vfs.Rule{Op: vfs.OpWriteAt, Path: "seglog.checkpoint*", Err: syscall.ENOSPC})
	assert.ErrorIs(t, l.DropFrom(3), syscall.ENOSPC)
	assert.Positive(t, full.Failed())
	assert.Zero(t, told.Load())
	assert.Equal(t, int64(12), l.End())
	wantValues(t, l)
	faulty.Clear()
	require.NoError(t, l.DropFrom(3))
	assert.Equal(t, int64(1), told.Load())
}

// TestCompactingWhatIsDropped: that segments are dropped while they are
// compacted is no failure.
func TestCompactingWhatIsDropped(t *testing.T) {
	o := small()
	o.Compaction = &compact.Options{MapBytes: 64 << 10}
	l, faulty, _ := inMem(t, o)
	for i := range 12 {
		_, err := l.Append(record.Record{Key: []byte{byte(i % 2)}, Value: []byte(value(i))})
		require.NoError(t, err)
	}
	drop := once(func() { assert.NoError(t, l.DropBefore(10)) })
	faulty.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpStat && filepath.Base(c.Name) == "00000000000000000005.log" {
			drop()
		}
	}
	result, err := l.Compact(ctx)
	require.NoError(t, err)
	assert.Equal(t, compact.ChangedBeneath, result.Plan.EndedBy)
	assert.Equal(t, int64(10), l.First())
}

// TestEpochsOfAnEmptiedLog: batches below the log's start are no reason to know
// an epoch, whether or not they share a segment with it.
func TestEpochsOfAnEmptiedLog(t *testing.T) {
	mem := vfs.NewMem()
	o := log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: mem}}
	l := open(t, "log", o)
	fill(t, l, 4)
	require.NoError(t, l.DropBefore(3))
	require.NoError(t, l.DropFrom(3))
	require.Empty(t, l.LeaderEpochs())
	closeLog(t, l)
	l = open(t, "log", o)
	assert.Empty(t, l.LeaderEpochs())
	assert.Equal(t, int32(-1), l.LeaderEpoch())
}
