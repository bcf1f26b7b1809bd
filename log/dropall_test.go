package log_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// replica is a follower's log of 24 offsets from 3 on in several segments, with
// two epochs, producers, an aborted transaction and an open one, and its high
// watermark in the middle.
func replica(t testing.TB) (*vfs.Mem, log.Options) {
	t.Helper()
	mem := vfs.NewMem()
	o := small()
	now := someTime
	o.Env = log.Env{FS: mem, Now: func() time.Time { return now }}
	o.Mode = log.Follower
	l, err := log.Open(ctx, "log", o)
	require.NoError(t, err)
	require.NoError(t, l.SetLeaderEpoch(1))
	fill(t, l, 8)
	sendTxn(t, l, 7, 0, 0, 2)
	end(t, l, 7, 1, false)
	require.NoError(t, l.SetLeaderEpoch(4))
	send(t, l, 8, 0, 0, 1)
	fill(t, l, 10)
	sendTxn(t, l, 7, 1, 0, 2)
	require.NoError(t, l.SetHighWatermark(14))
	require.NoError(t, l.DropBefore(3))
	require.EqualValues(t, 24, l.End())
	require.Greater(t, len(l.Segments()), 3)
	require.NoError(t, l.Close())
	return mem, o
}

// startsAt wants the log empty at an offset, with nothing known of what it was.
func startsAt(t testing.TB, l *log.Log, offset int64) {
	t.Helper()
	for what, at := range map[string]int64{"First": l.First(), "End": l.End(), "Durable": l.Durable(),
		"HighWatermark": l.HighWatermark(), "LastStable": l.LastStable()} {
		require.Equal(t, offset, at, what)
	}
	require.Empty(t, l.Producers())
	require.Empty(t, l.LeaderEpochs())
	require.EqualValues(t, -1, l.LeaderEpoch())
	require.Empty(t, l.Aborted(0, math.MaxInt64))
	for range l.From(offset) {
		t.Fatal("it has a record")
	}
	if offset > 0 {
		_, err := l.Read(offset - 1)
		require.ErrorIs(t, err, log.ErrTrimmed)
	}
	_, err := l.Read(offset)
	require.ErrorIs(t, err, log.ErrBeyond)
}

// fetched appends n records as a leader has them, in epoch 9.
func fetched(t testing.TB, l *log.Log, n int) {
	t.Helper()
	for range n {
		at := l.End()
		raw := encode(t, record.BatchOptions{BaseOffset: at, LeaderEpoch: 9}, rec(value(int(at))))
		a, err := l.AppendBatch(raw, log.FromLeader)
		require.NoError(t, err)
		require.Equal(t, at, a.First)
	}
}

// starts are offsets of every kind: before, in and behind the log, and far away.
var starts = []int64{0, 1, 3, 4, 5, 14, 20, 23, 24, 25, 1 << 40}

func TestDropAll(t *testing.T) {
	for _, start := range starts {
		t.Run(fmt.Sprint(start), func(t *testing.T) {
			mem, o := replica(t)
			var events []log.DropEvent
			o.Trace.Dropped = func(e log.DropEvent) { events = append(events, e) }
			l := open(t, "log", o)
			segments := l.Segments()
			view, err := l.Borrow(5, 1)
			require.NoError(t, err)
			held := string(view.Bytes())
			require.NoError(t, l.DropAll(start))
			require.Equal(t, held, string(view.Bytes()))
			view.Release()
			startsAt(t, l, start)
			require.Equal(t, []int64{start}, bases(l))
			require.Len(t, events, 1)
			require.Equal(t, "DropAll", events[0].Reason)
			require.Len(t, events[0].Segments, len(segments))

			// Of what there was no file is left.
			for _, name := range names(t, mem, "log") {
				if len(name) > 20 && name[0] == '0' {
					require.Equal(t, fmt.Sprintf("%020d", start), name[:20])
					require.NotEqual(t, ".snapshot", filepath.Ext(name))
				}
			}
			closeLog(t, l)
			l = open(t, "log", o)
			require.True(t, l.Recovery().Clean)
			startsAt(t, l, start)
			fetched(t, l, 7)
			wantValues(t, l)
			require.Equal(t, []log.EpochEntry{{Epoch: 9, Start: start}}, l.LeaderEpochs())
			require.NoError(t, l.Sync(ctx))
			require.NoError(t, l.SetHighWatermark(start+7))
			require.NoError(t, l.Checkpoint(ctx))
			o.Env.FS = mem.Crash(uint64(start))
			l = open(t, "log", o)
			require.Equal(t, start, l.First())
			require.Equal(t, start+7, l.End())
			wantValues(t, l)
			require.NoError(t, l.DropAll(start), "again")
			startsAt(t, l, start)
		})
	}
}

// TestDropAllIsOver: what is appended behind it, and synced, is not dropped with
// the rest after a crash.
func TestDropAllIsOver(t *testing.T) {
	for _, start := range starts {
		mem, o := replica(t)
		l := open(t, "log", o)
		require.NoError(t, l.DropAll(start))
		fetched(t, l, 2)
		require.NoError(t, l.Sync(ctx))
		l = open(t, "log", on(o, mem.Crash(1)))
		require.Equal(t, []int64{start, start + 2}, []int64{l.First(), l.End()})
		wantValues(t, l)
	}
}

// TestDropAllOfOneBatchInterrupted: DropAll empties the file of leader epochs
// first. If the power is cut then, the batch that is still there has its epoch, be
// it the only one, with no snapshot of producers since the start.
func TestDropAllOfOneBatchInterrupted(t *testing.T) {
	for nth := 0; ; nth++ {
		mem := vfs.NewMem()
		faulty := vfs.NewFaulty(mem)
		l := open(t, "log", on(small(), faulty))
		require.NoError(t, l.SetLeaderEpoch(3))
		for len(l.Segments()) < 2 {
			fill(t, l, 1)
		}
		first := l.Segments()[1].Base
		fill(t, l, 2)
		require.NoError(t, l.DropBefore(first))
		require.NoError(t, l.DropFrom(first+1))
		faulty.Add(vfs.Rule{Op: vfs.ChangeOp, After: nth, Err: vfs.ErrCrashed})
		err := l.DropAll(first + 5)
		l = open(t, "log", on(small(), mem.Crash(uint64(nth))))
		if l.End() == first+5 {
			require.Empty(t, l.LeaderEpochs())
		} else {
			require.Equal(t, []int64{first, first + 1}, []int64{l.First(), l.End()})
			require.Equal(t, []log.EpochEntry{{Epoch: 3, Start: first}}, l.LeaderEpochs(), "call %d", nth)
		}
		if err == nil {
			require.Greater(t, nth, 8)
			return
		}
	}
}

// TestDropAllInterruptedKeepsEpochs: a DropAll that a crash interrupts leaves the
// old log, whole, or the new one. The old one has its leader epochs, of which
// compaction has left no batch to derive them from.
func TestDropAllInterruptedKeepsEpochs(t *testing.T) {
	stops := map[string]func(*vfs.Mem) *vfs.Mem{"kill": (*vfs.Mem).Kill}
	for seed := range uint64(3) {
		stops[fmt.Sprint("power", seed)] = func(m *vfs.Mem) *vfs.Mem { return m.Crash(seed) }
	}
	built := vfs.NewMem()
	l := open(t, "log", on(compactedLog(), built))
	for epoch := range int32(4) {
		require.NoError(t, l.SetLeaderEpoch(epoch))
		for n := len(l.Segments()); len(l.Segments()) == n; {
			put(t, l, keyed("a", strings.Repeat(".", 300)))
		}
	}
	compacted(t, l)
	closeLog(t, l)
	for _, start := range []int64{0, 5, 100} {
		olds, news := 0, 0
		for name, stop := range stops {
			for nth, done := 0, false; !done; nth++ {
				mem := built.Fork()
				faulty := vfs.NewFaulty(mem)
				l, err := log.Open(ctx, "log", on(compactedLog(), faulty))
				require.NoError(t, err)
				end, epochs := l.End(), l.LeaderEpochs()
				require.Len(t, epochs, 4)
				var stopped *vfs.Mem
				calls := 0
				faulty.Trace = func(c vfs.Call) {
					if c.Op&vfs.ChangeOp == 0 {
						return
					}
					if calls++; calls > nth && stopped == nil {
						stopped = stop(mem)
					}
				}
				err = l.DropAll(start) // what runs on behind the stop reaches nothing
				if done = stopped == nil; done {
					require.NoError(t, err)
					stopped = stop(mem)
				}
				what := fmt.Sprintf("to %d, %s before call %d", start, name, nth)
				for range 2 {
					l, err = log.Open(ctx, "log", on(compactedLog(), stopped))
					require.NoError(t, err, what)
					if l.End() == end {
						olds++
						require.Equal(t, epochs, l.LeaderEpochs(), what)
					} else {
						news++
						startsAt(t, l, start)
					}
					stopped = stopped.Kill()
				}
			}
		}
		require.Positive(t, olds)
		require.Positive(t, news)
	}
}

// TestDropAllThatCannotEmptyTheEpochs: the file of leader epochs that a
// DropAll could not empty, or that the open behind it could not, is believed by
// nobody, and no checkpoint says that the drop is over before it is empty.
func TestDropAllThatCannotEmptyTheEpochs(t *testing.T) {
	mem, o := replica(t)
	for _, behind := range []string{"goes on", "closed", "killed"} {
		mem := mem.Fork()
		faulty := vfs.NewFaulty(mem)
		l := open(t, "log", on(o, faulty))
		faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "leader-epoch-checkpoint.tmp", Err: syscall.ENOSPC})
		require.ErrorIs(t, l.DropAll(40), syscall.ENOSPC)
		startsAt(t, l, 40)
		_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: 40, LeaderEpoch: 9}, rec("x")), log.FromLeader)
		require.ErrorIs(t, err, syscall.ENOSPC)
		switch behind {
		case "closed":
			require.ErrorIs(t, l.Close(), syscall.ENOSPC)
		case "killed":
			mem = mem.Kill()
			faulty = vfs.NewFaulty(mem)
			faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "leader-epoch-checkpoint.tmp", Err: syscall.ENOSPC})
			l = open(t, "log", on(o, faulty))
			startsAt(t, l, 40)
			require.ErrorIs(t, l.SetLeaderEpoch(10), syscall.ENOSPC)
		}
		readOnly := on(o, mem)
		readOnly.Mode = log.ReadOnly
		startsAt(t, open(t, "log", readOnly), 40)
		startsAt(t, open(t, "log", on(o, mem.Fork().Kill())), 40)
		if faulty.Clear(); behind == "closed" {
			l = open(t, "log", on(o, faulty))
		}
		fetched(t, l, 2)
		require.Equal(t, []log.EpochEntry{{Epoch: 9, Start: 40}}, l.LeaderEpochs())
		require.NoError(t, l.Close())
		l = open(t, "log", on(o, mem.Crash(1)))
		require.Equal(t, []log.EpochEntry{{Epoch: 9, Start: 40}}, l.LeaderEpochs(), behind)
		require.EqualValues(t, 42, l.End())
	}
}

func TestDropAllRefuses(t *testing.T) {
	l, _, _ := inMem(t, small())
	fill(t, l, 12)
	for _, start := range []int64{-1, math.MinInt64, math.MaxInt64, math.MaxInt64 - math.MaxInt32 + 1} {
		require.ErrorIs(t, l.DropAll(start), record.ErrInvalid)
	}
	wantValues(t, l)
	require.NoError(t, l.DropAll(math.MaxInt64-math.MaxInt32))
	_, err := l.Append(rec("fits"))
	require.NoError(t, err)
}

// TestDropAllCrash: the machine is stopped before each call of it that changes
// what is stored. The log that opens is the old one, whole, or the new one; a
// second open has nothing to do, and what is appended stays.
func TestDropAllCrash(t *testing.T) {
	stops := map[string]func(*vfs.Mem) *vfs.Mem{"kill": (*vfs.Mem).Kill}
	for seed := range uint64(3) {
		stops[fmt.Sprint("power", seed)] = func(m *vfs.Mem) *vfs.Mem { return m.Crash(seed) }
	}
	for _, start := range []int64{0, 5, 24, 100} {
		olds, news := 0, 0
		for name, stop := range stops {
			for n, done := 0, false; !done; n++ {
				mem, o := replica(t)
				faulty := vfs.NewFaulty(mem)
				l, err := log.Open(ctx, "log", on(o, faulty))
				require.NoError(t, err)
				before := borrowAll(t, l)
				var stopped *vfs.Mem
				calls := 0
				faulty.Trace = func(c vfs.Call) {
					if c.Op&vfs.ChangeOp == 0 || stopped != nil {
						return
					}
					if calls == n {
						stopped = stop(mem)
					}
					calls++
				}
				err = l.DropAll(start)
				if done = stopped == nil; done {
					require.NoError(t, err)
					stopped = stop(mem)
				}
				what := fmt.Sprintf("to %d, %s before call %d", start, name, n)
				l, err = log.Open(ctx, "log", on(o, stopped))
				require.NoError(t, err, what)
				if l.End() == 24 && l.First() == 3 {
					require.Equal(t, before, borrowAll(t, l), what)
					require.Len(t, l.Producers(), 2, what)
					require.Len(t, l.Aborted(0, 24), 1, what)
					require.Len(t, l.LeaderEpochs(), 2, what)
					require.False(t, done, what)
					olds++
				} else {
					startsAt(t, l, start)
					news++
				}
				stopped = stopped.Kill()
				l, err = log.Open(ctx, "log", on(o, stopped))
				require.NoError(t, err, what)
				require.Empty(t, l.Recovery().Actions, what)
				fetched(t, l, 3)
				all := borrowAll(t, l)
				require.NoError(t, l.Close())
				l, err = log.Open(ctx, "log", on(o, stopped.Crash(1)))
				require.NoError(t, err, what)
				require.True(t, l.Recovery().Clean, what)
				require.Equal(t, all, borrowAll(t, l), what)
				require.NoError(t, l.Close())
			}
		}
		require.Positive(t, olds)
		require.Positive(t, news)
	}
}

// TestDropAllEachCallFails: whatever call of it fails, the log goes on as it
// was, or is the new one, of which only the checkpoint is still to be written, or
// says that it has failed and is the new one when it is opened again.
func TestDropAllEachCallFails(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		for nth := 0; ; nth++ {
			mem, o := replica(t)
			faulty := vfs.NewFaulty(mem)
			l, err := log.Open(ctx, "log", on(o, faulty))
			require.NoError(t, err)
			require.NoError(t, l.SetLeaderEpoch(6)) // of which there is no record
			before, epochs := borrowAll(t, l), text(t, mem, "log/leader-epoch-checkpoint")
			rule := faulty.Add(vfs.Rule{Op: vfs.AnyOp &^ (vfs.OpUnmap | vfs.OpClose), After: nth, Count: 1, Err: cause})
			err = l.DropAll(5)
			faulty.Clear()
			what := fmt.Sprintf("call %d: %v", nth, err)
			switch {
			case err == nil:
				startsAt(t, l, 5)
			case errors.Is(err, log.ErrFailed):
				require.ErrorIs(t, err, cause, what)
				_, err := l.Append(rec("x"))
				require.ErrorIs(t, err, log.ErrFailed, what)
			default:
				require.ErrorIs(t, err, cause, what)
				if l.End() == 5 {
					startsAt(t, l, 5)
					break
				}
				require.Equal(t, before, borrowAll(t, l), what)
				require.Equal(t, epochs, text(t, faulty, "log/leader-epoch-checkpoint"), what)
			}
			mem = mem.Kill()
			_ = l.Close()
			l, err = log.Open(ctx, "log", on(o, mem))
			require.NoError(t, err, what)
			if l.End() == 24 {
				require.Len(t, l.Producers(), 2, what)
				require.Len(t, l.LeaderEpochs(), 2, what)
			} else {
				startsAt(t, l, 5)
			}
			fetched(t, l, 1)
			require.NoError(t, l.Close())
			if rule.Failed() == 0 {
				require.Greater(t, nth, 20)
				break
			}
		}
	}
}

// TestDropAllFilesInTheWay: a file that an earlier drop could not remove may have
// a name that comes again, and it must not be taken for that one later.
func TestDropAllFilesInTheWay(t *testing.T) {
	l, faulty, _ := inMem(t, small())
	fill(t, l, 12)
	faulty.Add(vfs.Rule{Op: vfs.OpRemove, Path: "00000000000000000005.*", Err: syscall.EPERM})
	require.ErrorIs(t, l.DropBefore(11), syscall.EPERM)
	require.ErrorIs(t, l.DropAll(0), syscall.EPERM)
	require.EqualValues(t, 11, l.First())
	wantValues(t, l)
	faulty.Clear()
	require.NoError(t, l.DropAll(0))
	fill(t, l, 12)
	_, err := l.Retain(ctx)
	require.NoError(t, err)
	require.Contains(t, names(t, faulty, "log"), "00000000000000000005.log")
	wantValues(t, l)
}

// TestDropAllWakes: whoever waits for more at the end learns that the log is
// another one, wherever that begins.
func TestDropAllWakes(t *testing.T) {
	for start, want := range map[int64]error{0: log.ErrBeyond, 7: log.ErrBeyond, 40: log.ErrTrimmed} {
		l, _, _ := inMem(t, small())
		fill(t, l, 12)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		ended := make(chan error, 1)
		ready := make(chan struct{})
		go func() {
			var last error
			for r, err := range l.Tail(ctx, 11) {
				if last = err; err == nil && r.Offset == 11 {
					close(ready)
				}
			}
			ended <- last
		}()
		<-ready
		require.NoError(t, l.DropAll(start))
		assert.ErrorIs(t, <-ended, want)
		cancel()
	}
}

// TestDropAllBesideReaders: readers see the one log or the other.
func TestDropAllBesideReaders(t *testing.T) {
	l, _, _ := inMem(t, small())
	ctx, cancel := context.WithCancel(ctx)
	errs := make(chan error, 2)
	for range cap(errs) {
		go func() {
			for ctx.Err() == nil {
				first := l.First()
				for r, err := range l.From(first) {
					if errors.Is(err, log.ErrTrimmed) || errors.Is(err, log.ErrBeyond) {
						break
					}
					if err != nil || string(r.Value) != value(int(r.Offset)) {
						errs <- fmt.Errorf("offset %d is %q: %w", r.Offset, r.Value, err)
						return
					}
				}
				v, err := l.Borrow(first, 1000)
				if err == nil {
					v.Release()
				} else if !errors.Is(err, log.ErrTrimmed) && !errors.Is(err, log.ErrBeyond) && err != io.EOF {
					errs <- err
					return
				}
				if _, err := l.OffsetAt(someTime); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for i := range int64(300) {
		fill(t, l, int(i%13))
		require.NoError(t, l.DropAll(i*7919%100))
	}
	cancel()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
}
