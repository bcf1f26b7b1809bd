package log_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
)

// The rules are Kafka's (UnifiedLog.deleteOldSegments); a test each.

// asks is a policy that lets go what a func says.
type asks func(s []retention.Segment) int

func (p asks) Expired(s []retention.Segment, _ time.Time) int { return p(s) }
func (p asks) String() string                                 { return "as asked" }

// everything lets all segments go.
var everything = asks(func(s []retention.Segment) int { return len(s) })

// TestRetainAll: where all segments may go a new one is begun first. The log is
// empty at its end then, the next record gets that offset, and a crash at any
// moment leaves the records or that.
func TestRetainAll(t *testing.T) {
	var rolled []log.RollEvent
	var dropped []log.DropEvent
	o := small()
	o.Retention = everything
	o.Trace.Rolled = func(e log.RollEvent) { rolled = append(rolled, e) }
	o.Trace.Dropped = func(e log.DropEvent) { dropped = append(dropped, e) }
	l, _, mem := inMem(t, o)
	fill(t, l, 12)
	rolled = nil
	expired, err := l.Expired()
	require.NoError(t, err)
	require.Len(t, expired, 3)
	gone, err := l.Retain(ctx)
	require.NoError(t, err)
	require.Len(t, gone, 3)
	require.Equal(t, []log.RollEvent{{Base: 12, Reason: "retention"}}, rolled)
	require.Len(t, dropped, 1)
	require.Equal(t, "as asked", dropped[0].Reason)
	require.Equal(t, []int64{12}, bases(l))
	require.Equal(t, []int64{12, 12, 12}, []int64{l.First(), l.Durable(), l.End()})

	// An empty segment is never dropped.
	gone, err = l.Retain(ctx)
	require.NoError(t, err)
	require.Empty(t, gone)
	require.Len(t, rolled, 1)

	o.Env.FS = mem.Crash(1)
	l = open(t, "log", o)
	require.Equal(t, []int64{12, 12}, []int64{l.First(), l.End()})
	fill(t, l, 3)
	wantValues(t, l)
	closeLog(t, l)
	l = open(t, "log", o)
	require.True(t, l.Recovery().Clean)
	wantValues(t, l)
}

// TestRetainAllCrash: the machine is stopped before each call that changes what
// is stored.
func TestRetainAllCrash(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Hour} {
		for seed := range uint64(4) {
			for n, done := 0, false; !done; n++ {
				o := small()
				o.Retention, o.DeleteDelay = everything, delay
				l, faulty, mem := inMem(t, o)
				fill(t, l, 12)
				require.NoError(t, l.Sync(ctx))
				var stopped *vfs.Mem
				calls := 0
				faulty.Trace = func(c vfs.Call) {
					if c.Op&vfs.ChangeOp == 0 || stopped != nil {
						return
					}
					if calls == n {
						stopped = mem.Crash(seed)
					}
					calls++
				}
				_, _ = l.Retain(ctx)
				if done = stopped == nil; done {
					stopped = mem.Crash(seed)
				}
				o.Env.FS = stopped
				l = open(t, "log", o)
				require.EqualValues(t, 12, l.End())
				require.True(t, l.First() == 12 || l.First() == 0 && !done, "First is %d after call %d", l.First(), n)
				wantValues(t, l)
				fill(t, l, 1)
				closeLog(t, l)
				l = open(t, "log", o)
				require.True(t, l.Recovery().Clean)
				wantValues(t, l)
				for _, name := range names(t, stopped, "log") {
					require.False(t, strings.HasSuffix(name, ".deleted"), name)
				}
			}
		}
	}
}

// TestRetainAllOnAFullDisk: there is no room for a new segment; the sealed ones
// go, which makes some, and the active one with the next call.
func TestRetainAllOnAFullDisk(t *testing.T) {
	o := small()
	o.Retention = everything
	l, faulty, _ := inMem(t, o)
	fill(t, l, 12)
	faulty.Add(vfs.Rule{Op: vfs.OpCreate | vfs.OpAllocate, Path: "*.log", Count: 1, Err: syscall.ENOSPC})
	gone, err := l.Retain(ctx)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Len(t, gone, 2)
	require.EqualValues(t, 10, l.First())
	wantValues(t, l)
	faulty.Add(vfs.Rule{Op: vfs.OpCreate | vfs.OpAllocate, Path: "*.log", Count: 1, Err: syscall.ENOSPC})
	gone, err = l.Retain(ctx)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Empty(t, gone)
	gone, err = l.Retain(ctx)
	require.NoError(t, err)
	require.Len(t, gone, 1)
	require.EqualValues(t, 12, l.First())
}

// TestRetainAsksForTooMuch: a policy is not believed beyond what there is.
func TestRetainAsksForTooMuch(t *testing.T) {
	for more, first := range map[int]int64{5: 12, 0: 12, -1: 10, -100: 0} {
		o := small()
		o.Retention = asks(func(s []retention.Segment) int { return len(s) + more })
		l, _, _ := inMem(t, o)
		fill(t, l, 12)
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		assert.Equal(t, first, l.First())
		wantValues(t, l)
	}
}

// TestRetainBelowTheHighWatermark: a segment goes only if the watermark is at or
// above where the next one begins; for the active one, at the end.
func TestRetainBelowTheHighWatermark(t *testing.T) {
	for mark, first := range map[int64]int64{0: 0, 4: 0, 5: 5, 9: 5, 10: 10, 11: 10, 12: 12} {
		o := small()
		o.Retention = everything
		l, _, _ := inMem(t, o)
		fill(t, l, 12)
		require.NoError(t, l.SetHighWatermark(mark))
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Equal(t, first, l.First(), "high watermark %d", mark)
		require.LessOrEqual(t, l.First(), l.HighWatermark())
	}
	// Offsets between two segments hold no record: the watermark has to be above
	// them, or the log would start beyond it.
	o := compactedLog()
	o.Retention = asks(func([]retention.Segment) int { return 1 })
	l, _, _ := inMem(t, o)
	put(t, l, keyed("kept", strings.Repeat(".", 700)))
	put(t, l, keyed("a", "1"))
	roll(t, l)
	put(t, l, keyed("a", "2"), keyed(fmt.Sprintf("roll-%d", 2), strings.Repeat(".", 700)))
	roll(t, l)
	compacted(t, l)
	s := l.Segments()
	require.Less(t, s[0].Next, s[1].Base)
	for mark := s[0].Next; mark <= s[1].Base; mark++ {
		require.NoError(t, l.SetHighWatermark(mark))
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Equal(t, mark == s[1].Base, l.First() == s[1].Base)
	}
}

// TestDropBeforeTheHighWatermark: what is not replicated is not dropped.
func TestDropBeforeTheHighWatermark(t *testing.T) {
	l, _, _ := inMem(t, small())
	fill(t, l, 12)
	require.NoError(t, l.SetHighWatermark(7))
	err := l.DropBefore(8)
	require.ErrorIs(t, err, log.ErrBeyond)
	var offset *log.OffsetError
	require.ErrorAs(t, err, &offset)
	require.EqualValues(t, 7, offset.End)
	require.Zero(t, l.First())
	require.NoError(t, l.DropBefore(7))
	require.EqualValues(t, 7, l.First())
}

// TestRetainFutureTimeBlocks: a timestamp in the future keeps its segment and
// all behind it.
func TestRetainFutureTimeBlocks(t *testing.T) {
	o := small()
	now := someTime.Add(time.Hour)
	o.Env.Now = func() time.Time { return now }
	o.Retention = retention.MaxAge(time.Minute)
	l, _, _ := inMem(t, o)
	for i := range 17 {
		at := time.Duration(0)
		if i == 7 {
			at = 2 * time.Hour
		}
		put(t, l, timed(value(i), at))
	}
	_, err := l.Retain(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 5, l.First())
	now = someTime.Add(2*time.Hour + time.Minute)
	_, err = l.Retain(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 5, l.First(), "exactly as old is not older")
	now = now.Add(time.Millisecond)
	_, err = l.Retain(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 17, l.First())
}

// TestRetainWithoutTimes goes by the files' times where records have none; by
// when it was seen to grow for the active segment, whose file's time is behind.
func TestRetainWithoutTimes(t *testing.T) {
	o := small()
	began := time.Now()
	now := began
	o.Retention = retention.MaxAge(time.Hour)
	o.Env.Now = func() time.Time { return now }
	l, _, mem := inMem(t, o)
	timeless := func(n int) {
		for range n {
			raw := encode(t, record.BatchOptions{BaseOffset: l.End()}, rec(value(int(l.End()))))
			_, err := l.AppendBatch(raw, log.FromLeader)
			require.NoError(t, err)
		}
	}
	retained := func(first int64) {
		t.Helper()
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Equal(t, first, l.First())
	}
	timeless(12)
	require.True(t, l.Segments()[0].MaxTime.IsZero())
	retained(0)
	now = began.Add(90 * time.Minute)
	timeless(1)
	retained(10) // the sealed ones are old, the active one is seen to have grown
	now = now.Add(time.Hour)
	retained(10)
	now = now.Add(time.Millisecond)
	retained(13)

	// Opened again there is nothing but the file's time.
	timeless(1)
	closeLog(t, l)
	require.NoError(t, mem.SetModTime("log/00000000000000000013.log", now.Add(-time.Hour)))
	o.Env.FS = mem
	l = open(t, "log", o)
	retained(13)
	now = now.Add(time.Millisecond)
	retained(14)
}

// TestRetainOfACompactedLog: without a policy only what is below the log start
// goes, and is told of as that; with one, what it lets go behind that.
func TestRetainOfACompactedLog(t *testing.T) {
	for _, both := range []bool{false, true} {
		var events []string
		mem := vfs.NewMem()
		o := on(compactedLog(), mem)
		o.Trace.Dropped = func(e log.DropEvent) { events = append(events, fmt.Sprint(len(e.Segments), " ", e.Reason)) }
		if both {
			o.Retention = retention.MaxBytes(1)
		}
		l := open(t, "/data/t-0", o)
		for range 4 {
			put(t, l, keyed("a", "1"))
			roll(t, l)
		}
		all := bases(l)
		closeLog(t, l)
		// A broker raised the log start, and left the segments where they are.
		require.NoError(t, mem.Remove("/data/t-0/seglog.checkpoint"))
		write(t, mem, "/data/log-start-offset-checkpoint", fmt.Sprintf("0\n1\nt 0 %d\n", all[2]+1))
		l = open(t, "/data/t-0", o)
		require.Equal(t, all[2]+1, l.First())
		expired, err := l.Expired()
		require.NoError(t, err)
		gone, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Len(t, gone, len(expired))
		if both {
			require.Equal(t, all[4:], bases(l))
			require.Equal(t, []string{"2 below the log start offset", "2 beyond 1 bytes"}, events)
		} else {
			require.Equal(t, all[2:], bases(l))
			require.Equal(t, []string{"2 below the log start offset"}, events)
		}
	}
}

// TestExpiredBelowStart: Expired lists what Retain drops where segments lie below
// the log start, be they such as the policy would keep: it is asked about those
// behind them.
func TestExpiredBelowStart(t *testing.T) {
	now := someTime.Add(100 * time.Minute)
	for _, c := range []struct {
		policy retention.Policy
		want   int
	}{
		{nil, 2},
		{retention.MaxAge(50 * time.Minute), 4}, // times do not ascend: the first two are the newest
		{retention.MaxBytes(1400), 3},
		{retention.Any(retention.MaxAge(50*time.Minute), retention.MaxBytes(1400)), 4},
		{retention.All(retention.MaxAge(50*time.Minute), retention.MaxBytes(1400)), 3},
		{everything, 5},
	} {
		mem := vfs.NewMem()
		o := small()
		o.Env = log.Env{FS: mem, Now: func() time.Time { return now }}
		l := open(t, "/data/t-0", o)
		for i := range 22 {
			minute := time.Duration(10)
			if i < 10 || i >= 20 {
				minute = 90
			}
			_, err := l.Append(timed(value(i), minute*time.Minute))
			require.NoError(t, err)
		}
		segments := l.Segments()
		require.Equal(t, []int64{0, 5, 10, 15, 20}, bases(l))
		closeLog(t, l)
		// A broker raised the log start, and left the segments where they are.
		require.NoError(t, mem.Remove("/data/t-0/seglog.checkpoint"))
		write(t, mem, "/data/log-start-offset-checkpoint", "0\n1\nt 0 12\n")
		o.Retention = c.policy
		l = open(t, "/data/t-0", o)
		require.EqualValues(t, 12, l.First())
		expired, err := l.Expired()
		require.NoError(t, err)
		require.Equal(t, segments[:c.want], expired, "%v", c.policy)
		gone, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Equal(t, len(expired), len(gone), "%v", c.policy)
		for i := range gone {
			require.Equal(t, expired[i].Base, gone[i].Base, "%v", c.policy)
		}
	}
}

// TestRetainBesideCompaction: segments that are joined while it is decided are
// not dropped whole when only some of them were to go.
func TestRetainBesideCompaction(t *testing.T) {
	o := compactedLog()
	var l *log.Log
	var first int64
	o.Retention = asks(func(s []retention.Segment) int {
		if l.Segments()[1].Base != first {
			return 0 // of those that are there now
		}
		r := compacted(t, l)
		require.Less(t, r.Segments.After, r.Segments.Before)
		return 1
	})
	var mem *vfs.Mem
	l, _, mem = inMem(t, o)
	for i := range 4 {
		put(t, l, keyed("a", "1"), keyed(fmt.Sprint("kept", i), "1"))
		roll(t, l)
	}
	closeLog(t, l)
	o.SegmentBytes = 8 << 10
	l = open(t, "log", on(o, mem))
	first = bases(l)[1]
	_, err := l.Retain(ctx)
	require.NoError(t, err)
	require.NotContains(t, bases(l), first)
	require.Zero(t, l.First())
	got := strings.Join(readAll(t, l), " ")
	for i := range 4 {
		require.Contains(t, got, fmt.Sprintf("kept%d=1", i))
	}
}

// TestRetainBesideChanges: what was appended behind a cut that came while it was
// decided is not what was to go; neither is what came into the active segment.
func TestRetainBesideChanges(t *testing.T) {
	for name, meanwhile := range map[string]func(l *log.Log){
		"cut":     func(l *log.Log) { require.NoError(t, l.DropFrom(3)); fill(t, l, 20) },
		"restart": func(l *log.Log) { require.NoError(t, l.DropAll(2)); fill(t, l, 20) },
		"append":  func(l *log.Log) { fill(t, l, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			var l *log.Log
			o := small()
			asked := 0
			o.Retention = asks(func(s []retention.Segment) int {
				if asked++; asked > 1 {
					return 0
				}
				meanwhile(l)
				return len(s)
			})
			l, _, _ = inMem(t, o)
			fill(t, l, 12)
			_, err := l.Retain(ctx)
			require.NoError(t, err)
			switch name {
			case "append":
				require.EqualValues(t, 10, l.First())
			case "cut":
				require.Zero(t, l.First())
			case "restart":
				require.EqualValues(t, 2, l.First())
			}
			wantValues(t, l)
		})
	}
}
