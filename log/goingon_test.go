package log_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// Here are faults that failing each call of each operation found (fuzz/calls):
// what an error leaves, and the way on after it.

// killedAndOpened opens what is there when the process has been killed.
func killedAndOpened(t testing.TB, mem *vfs.Mem, o log.Options) *log.Log {
	t.Helper()
	o.Env.FS = mem.Fork()
	return open(t, "log", o)
}

// A file that could not be opened for a sync was not synced, which is no failed
// sync: the log goes on.
func TestSyncWithoutDescriptorsIsNotFinal(t *testing.T) {
	for nth := 0; ; nth++ {
		killed, _, mem := inMem(t, small())
		fill(t, killed, 3)
		require.NoError(t, killed.Sync(ctx))
		fill(t, killed, 6) // over a roll
		mem = mem.Kill()
		faulty, o := vfs.NewFaulty(mem), small()
		o.Env.FS = faulty
		l := open(t, "log", o)
		fill(t, l, 6) // and another one, here
		rule := faulty.Add(vfs.Rule{Op: vfs.OpOpen | vfs.OpCreate | vfs.OpSyncDir, After: nth, Count: 1, Err: syscall.EMFILE})
		err := l.Sync(ctx)
		faulty.Clear()
		if rule.Failed() == 0 {
			require.NoError(t, err)
			require.Greater(t, nth, 5)
			return
		}
		require.ErrorIs(t, err, syscall.EMFILE, "call %d", nth)
		require.NotErrorIs(t, err, log.ErrFailed, "call %d", nth)
		require.NoError(t, l.Sync(ctx), "call %d", nth)
		fill(t, l, 1)
		require.NoError(t, l.Sync(ctx))
		again := open(t, "log", log.Options{SegmentBytes: 1 << 10, Env: log.Env{FS: mem.Fork().Crash(uint64(nth))}})
		require.Equal(t, int64(16), again.End(), "call %d", nth)
		wantValues(t, again)
		closeLog(t, again)
	}
}

// Whatever call of a roll fails, the batch does, and goes in when it is tried
// again.
func TestRollThatFailsIsNotFinal(t *testing.T) {
	for nth := 0; ; nth++ {
		l, faulty, mem := inMem(t, small())
		fill(t, l, 5) // the next one rolls
		rule := faulty.Add(vfs.Rule{After: nth, Count: 1, Err: syscall.EIO})
		_, err := l.Append(rec(value(5)))
		faulty.Clear()
		if err != nil {
			require.ErrorIs(t, err, syscall.EIO)
			require.NotErrorIs(t, err, log.ErrFailed, "call %d", nth)
			unchanged(t, l, 5)
			fill(t, l, 1)
		}
		fill(t, l, 6)
		wantValues(t, killedAndOpened(t, mem, small()))
		closeLog(t, l)
		require.Empty(t, faulty.InUse())
		if rule.Failed() == 0 {
			require.NoError(t, err)
			require.Greater(t, nth, 15)
			return
		}
	}
}

// A large batch that could not be written is tried again, and until then is not
// there, not even after a kill, though all its bytes may be.
func TestLargeBatchThatFails(t *testing.T) {
	o := log.Options{SegmentBytes: 1 << 20}
	large := strings.Repeat("x", 100<<10)
	for _, short := range []int{0, 1, 60, 50 << 10, 101 << 10} {
		l, faulty, mem := inMem(t, o)
		fill(t, l, 1)
		faulty.Add(vfs.Rule{Op: vfs.OpWriteAt, Path: "*.log", Count: 1, Err: syscall.EIO, Short: short})
		_, err := l.Append(rec(large))
		require.ErrorIs(t, err, syscall.EIO)
		require.NotErrorIs(t, err, log.ErrFailed)
		unchanged(t, l, 1)
		require.Equal(t, int64(1), killedAndOpened(t, mem, o).End(), "%d bytes", short)
		_, err = l.AppendSync(ctx, rec(large))
		require.NoError(t, err)
		again := killedAndOpened(t, mem, o)
		r, err := again.Read(1)
		require.NoError(t, err)
		require.Equal(t, large, string(r.Value))
	}
}

// A leader's batch that fails leaves no trace of its epoch, and neither does
// SetLeaderEpoch.
func TestLeaderEpochThatFails(t *testing.T) {
	for name, do := range map[string]func(l *log.Log) error{
		"append": func(l *log.Log) error {
			_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: 5, LeaderEpoch: 3}, rec(value(5))), log.FromLeader)
			return err
		},
		"append large": func(l *log.Log) error {
			_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: 5, LeaderEpoch: 3}, rec(strings.Repeat("x", 80<<10))), log.FromLeader)
			return err
		},
		"set": func(l *log.Log) error { return l.SetLeaderEpoch(3) },
	} {
		o := log.Options{SegmentBytes: 100 << 10}
		for nth := 0; ; nth++ {
			l, faulty, mem := inMem(t, o)
			require.NoError(t, l.SetLeaderEpoch(2))
			fill(t, l, 5)
			rule := faulty.Add(vfs.Rule{After: nth, Count: 1, Err: syscall.EIO})
			err := do(l)
			faulty.Clear()
			if rule.Failed() == 0 {
				require.NoError(t, err)
				require.Equal(t, int32(3), l.LeaderEpoch())
				break
			}
			if err == nil {
				continue
			}
			require.Equal(t, []log.EpochEntry{{Epoch: 2, Start: 0}}, l.LeaderEpochs(), "%s, call %d", name, nth)
			fill(t, l, 1) // of epoch 2
			closeLog(t, l)
			again := killedAndOpened(t, mem, o)
			require.Equal(t, []log.EpochEntry{{Epoch: 2, Start: 0}}, again.LeaderEpochs(), "%s, call %d", name, nth)
			wantValues(t, again)
		}
	}
}

// Snapshots of producers that no checkpoint refers to do not pile up, one for
// each checkpoint that fails.
func TestPitfallD8Snapshots(t *testing.T) {
	for _, pattern := range []string{"seglog.checkpoint.tmp", "*.snapshot.tmp"} {
		for _, op := range []vfs.Op{vfs.OpRename, vfs.OpSyncDir} {
			l, faulty, mem := inMem(t, log.Options{})
			for i := range int32(50) {
				send(t, l, 1, 0, i, 1)
				rule := vfs.Rule{Op: op, Path: pattern, Count: 1, Err: syscall.ENOSPC}
				if op == vfs.OpSyncDir { // behind the rename
					rule.Path, rule.Err = "", syscall.EMFILE
				}
				faulty.Add(rule)
				_ = l.Checkpoint(ctx)
			}
			faulty.Clear()
			require.NoError(t, l.Checkpoint(ctx))
			snapshots := 0
			for _, name := range names(t, mem, "log") {
				if strings.HasSuffix(name, ".snapshot") {
					snapshots++
				}
			}
			require.Equal(t, 1, snapshots, "%s %s", op, pattern)
		}
	}
}

// withOldProducer is a log that knows a producer whose batches are dropped, from
// a snapshot.
func withOldProducer(t *testing.T) (*log.Log, *vfs.Faulty, *vfs.Mem) {
	l, faulty, mem := inMem(t, small())
	send(t, l, 1, 0, 0, 1)
	fill(t, l, 12)
	require.NoError(t, l.Checkpoint(ctx))
	require.NoError(t, l.DropBefore(7))
	require.Len(t, l.Producers(), 1)
	return l, faulty, mem
}

// A cut, or a drop that fails, does not make a log forget the producers of which
// no batch is left: not when it is opened after a kill, either.
func TestCutsKeepOldProducers(t *testing.T) {
	l, _, mem := withOldProducer(t)
	fill(t, l, 3)
	want := l.Producers()
	require.NoError(t, l.DropFrom(14))
	require.Equal(t, want, l.Producers())
	require.Equal(t, want, killedAndOpened(t, mem, small()).Producers(), "after DropFrom")

	for nth := 0; ; nth++ {
		l, faulty, mem := withOldProducer(t)
		fill(t, l, 4)
		rule := faulty.Add(vfs.Rule{Op: vfs.OpCreate | vfs.OpRename | vfs.OpSyncDir, After: nth, Count: 1, Err: syscall.EIO})
		err := l.DropBefore(12)
		faulty.Clear()
		if rule.Failed() == 0 {
			require.NoError(t, err)
			require.Greater(t, nth, 2)
			return
		}
		if !errors.Is(err, log.ErrFailed) {
			fill(t, l, 1)
			_ = l.DropFrom(l.End() - 1) // writes a checkpoint, and no snapshot
		}
		require.Equal(t, want[0].ID, killedAndOpened(t, mem, small()).Producers()[0].ID, "call %d", nth)
	}
}

// Leader epochs begin where the log does, however they are derived.
func TestEpochsBeginAtFirst(t *testing.T) {
	l, _, mem := inMem(t, small())
	require.NoError(t, l.SetLeaderEpoch(4))
	send(t, l, 1, 0, 0, 1)
	fill(t, l, 7)
	require.NoError(t, l.DropBefore(7)) // inside a segment
	want := []log.EpochEntry{{Epoch: 4, Start: 7}}
	require.Equal(t, want, l.LeaderEpochs())
	mem = mem.Kill()
	require.NoError(t, mem.Remove("log/leader-epoch-checkpoint"))
	again := killedAndOpened(t, mem, small())
	require.Equal(t, want, again.LeaderEpochs(), "derived from batches")
	require.NoError(t, again.DropFrom(7))
	require.Equal(t, int64(7), again.End())
	for _, e := range again.LeaderEpochs() {
		require.GreaterOrEqual(t, e.Start, int64(7), "after a cut to where it begins")
	}
}

// After ErrFailed even a Sync that has nothing to do says so.
func TestSyncAfterErrFailed(t *testing.T) {
	l, faulty, _ := inMem(t, small())
	fill(t, l, 1)
	require.NoError(t, l.Sync(ctx))
	faulty.Add(vfs.Rule{Op: vfs.OpSync, Count: 1, Err: syscall.EIO})
	_, err := l.AppendSync(ctx, rec(value(1)))
	require.ErrorIs(t, err, log.ErrFailed)
	require.ErrorIs(t, l.Sync(ctx), log.ErrFailed)
}

// Whatever call of DropFrom or DropAll fails: what is seen of the log, producers
// and epochs as well, is as it was or as it is to be; it can be read; nothing stays
// open; and unless the log has failed the same call works.
func TestCutThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		do  func(l *log.Log) error
		end int64
	}{
		"DropFrom":                   {func(l *log.Log) error { return l.DropFrom(8) }, 8},
		"DropFrom the first segment": {func(l *log.Log) error { return l.DropFrom(3) }, 3},
		"DropFrom a segment":         {func(l *log.Log) error { return l.DropFrom(5) }, 5},
		"DropAll":                    {func(l *log.Log) error { return l.DropAll(100) }, 100},
	} {
		t.Run(name, func(t *testing.T) {
			finals := 0
			for nth := 0; ; nth++ {
				l, faulty, mem := inMem(t, small())
				send(t, l, 1, 0, 0, 1)
				fill(t, l, 9)
				send(t, l, 2, 0, 0, 1)
				fill(t, l, 5)
				require.NoError(t, l.Sync(ctx))
				rule := faulty.Add(vfs.Rule{After: nth, Count: 1, Err: syscall.EMFILE})
				err := c.do(l)
				faulty.Clear()
				what := fmt.Sprintf("call %d: %v", nth, err)
				old := l.End() == 16
				require.True(t, old || l.End() == c.end, what)
				for r, err := range l.From(l.First()) {
					require.NoError(t, err, what)
					require.Less(t, r.Offset, l.End())
				}
				producers := map[bool]int{true: 2, false: 1}[old]
				if c.end == 100 && !old {
					producers = 0
				}
				require.Len(t, l.Producers(), producers, what)
				if l.First() < l.End() {
					at, err := l.OffsetAt(someTime)
					require.NoError(t, err, what)
					require.Zero(t, at, what)
				}
				switch {
				case errors.Is(err, log.ErrFailed):
					finals++
					require.NoError(t, l.Close())
					require.Empty(t, faulty.InUse(), what)
					l = killedAndOpened(t, mem, small())
				case err != nil:
					require.NoError(t, c.do(l), what)
				}
				require.Equal(t, c.end, l.End(), what)
				_, err = l.AppendSync(ctx, rec("x"))
				require.NoError(t, err, what)
				closeLog(t, l)
				if rule.Failed() == 0 {
					require.Greater(t, finals, 5)
					return
				}
			}
		})
	}
}

// TestCutTellsOfEachSync: whichever sync of a cut fails, the cut says so. It did
// not of one, after which it went on to its end in a log that had failed.
func TestCutTellsOfEachSync(t *testing.T) {
	syncs := 0
	for name, do := range map[string]func(l *log.Log) error{
		"DropFrom":                   func(l *log.Log) error { return l.DropFrom(8) },
		"DropFrom the first segment": func(l *log.Log) error { return l.DropFrom(3) },
		"DropAll":                    func(l *log.Log) error { return l.DropAll(100) },
	} {
		for nth := 0; ; nth++ {
			l, faulty, _ := inMem(t, small())
			fill(t, l, 16)
			require.NoError(t, l.SetLeaderEpoch(3))
			require.NoError(t, l.Sync(ctx))
			rule := faulty.Add(vfs.Rule{Op: vfs.OpSync | vfs.OpSyncDir, After: nth, Count: 1, Err: syscall.EIO})
			err := do(l)
			faulty.Clear()
			if rule.Failed() == 0 {
				require.NoError(t, err)
				break
			}
			syncs++
			if err == nil { // of a derived file, which is written again
				_, err = l.AppendSync(ctx, rec("x"))
				require.NoError(t, err, "%s, sync %d: the log has failed, and the cut did not say so", name, nth)
			} else {
				require.ErrorIs(t, err, syscall.EIO)
			}
			_ = l.Close()
		}
	}
	require.Greater(t, syncs, 10)
}
