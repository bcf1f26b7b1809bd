package log_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// unchanged wants a failed append to have left no trace, in the watermarks or for
// a reader.
func unchanged(t testing.TB, l *log.Log, end int64) {
	t.Helper()
	require.Equal(t, end, l.End())
	_, err := l.Read(end)
	require.ErrorIs(t, err, log.ErrBeyond)
	wantValues(t, l)
}

// TestPitfallO3DiskFull: the disk is full after each sector in turn, for a log
// that rolls and grows all its files. The append fails whole, as ENOSPC; what
// was durable stays (pitfall D2); it works again when there is room.
func TestPitfallO3DiskFull(t *testing.T) {
	step := int64(512)
	if raceEnabled {
		step = 6 << 10
	}
	for _, o := range []log.Options{
		{SegmentBytes: 2 << 10, IndexInterval: 1},
		{SegmentBytes: 600 << 10, IndexInterval: 100},
	} {
		t.Run(fmt.Sprint(o.SegmentBytes), func(t *testing.T) {
			most := int64(40 << 10)
			size := 130
			if o.SegmentBytes > 1<<19 {
				most, size = 700<<10, 20<<10 // over two steps of growth
				step = max(step, 8<<10)
			}
			failures := 0
			for limit := int64(512); limit < most; limit += step {
				mem := vfs.NewMem()
				mem.SetLimit(limit)
				o := o
				o.Env.FS = mem
				l, err := log.Open(ctx, "log", o)
				if err != nil {
					require.ErrorIs(t, err, syscall.ENOSPC, "limit %d", limit)
					mem.SetLimit(0)
					l = open(t, "log", o)
				}
				text := func(i int64) string { return fmt.Sprintf("%-*d", size, i) }
				check := func(l *log.Log, end int64) {
					t.Helper()
					n := int64(0)
					for r, err := range l.From(0) {
						require.NoError(t, err)
						require.Equal(t, text(n), string(r.Value))
						n++
					}
					require.Equal(t, end, n)
					require.Equal(t, end, l.End())
				}
				for i := int64(0); ; i++ {
					if _, err = l.Append(rec(text(i))); err != nil || i > 120 {
						break
					}
				}
				if err == nil {
					closeLog(t, l)
					continue
				}
				failures++
				require.ErrorIs(t, err, syscall.ENOSPC, "limit %d", limit)
				require.NotErrorIs(t, err, log.ErrFailed)
				end := l.End()
				check(l, end)
				for range 3 {
					_, err = l.Append(rec(text(end)))
					require.ErrorIs(t, err, syscall.ENOSPC)
					_, err = l.AppendSync(ctx, rec(text(end)))
					require.ErrorIs(t, err, syscall.ENOSPC)
				}
				check(l, end)

				switch limit / step % 3 {
				case 0: // a crash on a full disk, and opening on it (pitfall D1)
					durable := l.Durable()
					mem = mem.Crash(uint64(limit))
					_ = l.Close()
					o.Env.FS = mem
					l = open(t, "log", o)
					require.GreaterOrEqual(t, l.End(), durable)
					end = l.End()
				case 1:
					mem = mem.Kill()
					_ = l.Close()
					o.Env.FS = mem
					l = open(t, "log", o)
					require.Equal(t, end, l.End())
				}
				check(l, end)
				mem.SetLimit(0)
				for i := range int64(10) {
					_, err = l.AppendSync(ctx, rec(text(end+i)))
					require.NoError(t, err, "limit %d", limit)
				}
				check(l, end+10)
				closeLog(t, l)
				l = open(t, "log", o)
				check(l, end+10)
				closeLog(t, l)
			}
			t.Logf("full in %d places", failures)
			assert.Greater(t, failures, 5)
		})
	}
}

// TestEachGrowingCallFails: the n-th call that takes room answers ENOSPC, or the
// EDQUOT of a user who may not occupy more, once. Whatever it was of, nothing is
// lost, and the next append works.
func TestEachGrowingCallFails(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		t.Run(fmt.Sprint(full), func(t *testing.T) { eachGrowingCallFails(t, full) })
	}
}

func eachGrowingCallFails(t *testing.T, full error) {
	const ops = vfs.OpAllocate | vfs.OpWriteAt | vfs.OpCreate | vfs.OpRename | vfs.OpMap
	for nth := 0; ; nth++ {
		o := small()
		o.IndexInterval = 1
		l, faulty, mem := inMem(t, o)
		rule := faulty.Add(vfs.Rule{Op: ops, After: nth, Count: 1, Err: full})
		for l.End() < 30 {
			end := l.End()
			if _, err := l.Append(rec(value(int(end)))); err != nil {
				require.ErrorIs(t, err, full, "call %d", nth)
				require.NotErrorIs(t, err, log.ErrFailed, "call %d", nth)
				unchanged(t, l, end)
			}
		}
		wantValues(t, l)
		mem = mem.Kill()
		_ = l.Close()
		o.Env.FS = mem
		again := open(t, "log", o)
		require.Equal(t, int64(30), again.End(), "call %d", nth)
		wantValues(t, again)
		if rule.Failed() == 0 {
			require.Greater(t, nth, 20)
			return
		}
	}
}

// TestPitfallD8: a thousand failed rolls leave nothing behind, and a smaller
// batch that still fits goes where it belongs.
func TestPitfallD8FailedRolls(t *testing.T) {
	for _, rule := range []vfs.Rule{
		{Op: vfs.OpAllocate, Path: "*5.log"},
		{Op: vfs.OpCreate, Path: "*5.log"},
		{Op: vfs.OpCreate, Path: "*5.index"},
		{Op: vfs.OpCreate, Path: "*5.timeindex"},
		{Op: vfs.OpMap, Path: "*5.log"},
		{Op: vfs.OpMap, Path: "*5.timeindex"},
	} {
		t.Run(rule.Op.String()+rule.Path, func(t *testing.T) {
			o := small()
			l, faulty, mem := inMem(t, o)
			for i := range 5 {
				_, err := l.Append(rec(value(i)[:100]))
				require.NoError(t, err)
			}
			before := names(t, mem, "log")
			rule.Err = syscall.ENOSPC
			faulty.Add(rule)
			for range 1000 {
				_, err := l.Append(rec(strings.Repeat("x", 400)))
				require.ErrorIs(t, err, syscall.ENOSPC)
			}
			assert.Equal(t, before, names(t, mem, "log"))
			_, err := l.AppendSync(ctx, rec("small"))
			require.NoError(t, err)
			faulty.Clear()
			for range 12 {
				_, err := l.AppendSync(ctx, rec(strings.Repeat("y", 400)))
				require.NoError(t, err)
			}
			for round := range 3 {
				r, err := l.Read(5)
				require.NoError(t, err, "round %d", round)
				assert.Equal(t, "small", string(r.Value))
				if round == 0 {
					mem = mem.Crash(1)
				}
				_ = l.Close()
				o.Env.FS = mem
				l = open(t, "log", o)
				assert.Equal(t, int64(18), l.End())
			}
		})
	}
}

// TestDropOnAFullDisk: dropping is how room returns, so it must not need
// any.
func TestDropOnAFullDisk(t *testing.T) {
	mem := vfs.NewMem()
	o := small()
	o.Env.FS = mem
	l := open(t, "log", o)
	fill(t, l, 60)
	require.NoError(t, l.Sync(ctx))
	mem.SetLimit(mem.Used())
	var err error
	for err == nil {
		_, err = l.Append(rec(value(int(l.End()))))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, l.DropBefore(30))
	fill(t, l, 10)
	wantValues(t, l)
}

// TestDropOverQuota: a quota that is used up is a full disk. Where no checkpoint
// can be written the oldest segments go before it is; a DropFrom that could note
// nothing has changed nothing; an index that has no room serves from memory.
func TestDropOverQuota(t *testing.T) {
	o := small()
	l, faulty, _ := inMem(t, o)
	require.NoError(t, l.SetLeaderEpoch(2))
	fill(t, l, 60)
	require.NoError(t, l.Sync(ctx))
	faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "*.tmp", Count: 1, Err: syscall.EDQUOT})
	require.NoError(t, l.DropBefore(31))
	require.Equal(t, int64(31), l.First())
	require.Equal(t, int64(31), l.LeaderEpochs()[0].Start)
	fill(t, l, 12)
	end := l.End()
	for nth := range 12 { // ever more of what it takes to make the rest durable has no room
		faulty.Add(vfs.Rule{Op: vfs.OpCreate | vfs.OpRename, After: nth, Count: 1, Err: syscall.EDQUOT})
	}
	_ = l.DropBefore(end)
	faulty.Clear()
	require.LessOrEqual(t, l.First(), l.Durable())
	fill(t, l, 30)
	require.NoError(t, l.Sync(ctx))
	faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "*.tmp", Count: 1, Err: syscall.EDQUOT})
	end = l.End()
	err := l.DropFrom(end - 5)
	require.ErrorIs(t, err, syscall.EDQUOT)
	require.NotErrorIs(t, err, log.ErrFailed)
	require.Equal(t, end, l.End())
	fill(t, l, 10)
	wantValues(t, l)
}

// TestOpenWithoutRoomForAnIndex: where an index is missing, and there is no room
// for so much as an empty file, the log opens and does without.
func TestOpenWithoutRoomForAnIndex(t *testing.T) {
	for _, suffix := range []string{".index", ".timeindex"} {
		for _, sealed := range []bool{true, false} {
			o := small()
			o.IndexInterval = 1
			l, _, mem := inMem(t, o)
			fill(t, l, 18)
			name := "log/" + fmt.Sprintf("%020d", bases(l)[map[bool]int{true: 0, false: len(bases(l)) - 1}[sealed]]) + suffix
			mem = mem.Kill()
			_ = l.Close()
			require.NoError(t, mem.Remove(name))
			faulty := vfs.NewFaulty(mem)
			faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "*" + suffix + "*", Err: syscall.ENOSPC})
			o.Env.FS = faulty
			l = open(t, "log", o)
			require.Equal(t, int64(18), l.End())
			wantValues(t, l)
			_, err := l.OffsetAt(time.Now().Add(-time.Hour))
			require.NoError(t, err)
			fill(t, l, 1)
			require.NoError(t, l.Sync(ctx))
			closeLog(t, l)

			faulty.Clear() // there is room again
			l = open(t, "log", o)
			require.Equal(t, int64(19), l.End())
			fill(t, l, 12)
			wantValues(t, l)
			closeLog(t, l)
			l = open(t, "log", o)
			require.True(t, l.Recovery().Clean, name)
			wantValues(t, l)
		}
	}
}

// TestPowerCutWhileMakingRoom: on a full disk segments are unlinked before the
// checkpoint says that they were dropped. A power cut then takes the oldest ones or
// none, and the log opens.
func TestPowerCutWhileMakingRoom(t *testing.T) {
	// Relies on A7 (docs/ASSUMPTIONS.md).
	starts := make(map[int64]bool)
	for _, delay := range []time.Duration{0, time.Hour} {
		for seed := range uint64(40) {
			o := small()
			o.DeleteDelay = delay
			l, faulty, mem := inMem(t, o)
			fill(t, l, 30)
			require.NoError(t, l.Checkpoint(ctx))
			faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "seglog.checkpoint*", Err: syscall.ENOSPC})
			unlinked := 0
			faulty.Trace = func(c vfs.Call) {
				if c.Op == vfs.OpRemove && strings.HasSuffix(c.Name, ".log") {
					if unlinked++; unlinked > int(seed%5) {
						faulty.Add(vfs.Rule{Err: syscall.EIO}) // the machine is gone
					}
				}
			}
			_ = l.DropBefore(20)
			crashed := mem.Crash(seed)
			_ = l.Close()
			o.Env.FS = crashed
			l, err := log.Open(ctx, "log", o)
			require.NoError(t, err, "delay %v, seed %d", delay, seed)
			require.Equal(t, int64(30), l.End())
			wantValues(t, l)
			starts[l.First()] = true
			closeLog(t, l)
		}
	}
	require.Greater(t, len(starts), 3)
}

// TestIndexWithoutRoomIsWrittenLater: an index that had no room, in a file or to
// make one, serves from memory. It is written when the log is closed or, where
// there is no room yet, by the open and close that follow, though nothing is
// appended then.
func TestIndexWithoutRoomIsWrittenLater(t *testing.T) {
	for _, op := range []vfs.Op{vfs.OpAllocate, vfs.OpAllocate | vfs.OpCreate} {
		for _, more := range []int{0, 1, 12} {
			for _, late := range []bool{op&vfs.OpCreate != 0, true} {
				what := fmt.Sprintf("%v, %d appended, late %t", op, more, late)
				o := small()
				o.IndexInterval = 1
				l, _, mem := inMem(t, o)
				fill(t, l, 18)
				active := fmt.Sprintf("log/%020d", bases(l)[len(bases(l))-1])
				mem = mem.Kill()
				_ = l.Close()
				require.NoError(t, mem.Remove(active+".index"))
				require.NoError(t, mem.Remove(active+".timeindex"))
				faulty := vfs.NewFaulty(mem)
				faulty.Add(vfs.Rule{Op: op, Path: filepath.Base(active) + ".*index*", Err: syscall.ENOSPC})
				if late {
					faulty.Add(vfs.Rule{Op: vfs.OpWriteAt, Path: filepath.Base(active) + ".*index*", Err: syscall.ENOSPC})
				}
				o.Env.FS = faulty
				l = open(t, "log", o)
				fill(t, l, more)
				closeLog(t, l)
				faulty.Clear() // there is room again
				if late {
					closeLog(t, open(t, "log", o))
				}
				v, err := log.Verify(ctx, "log", o, nil)
				require.NoError(t, err)
				require.Empty(t, v.Faults, what)
				require.Empty(t, v.Notes, what)
				for _, suffix := range []string{".index", ".timeindex"} {
					info, err := mem.Stat(active + suffix)
					require.NoError(t, err, what)
					require.NotZero(t, info.Size(), what)
					require.Less(t, info.Size(), int64(1000), what)
				}
				written := faulty.Calls(vfs.OpWriteAt | vfs.OpAllocate)
				closeLog(t, open(t, "log", o))
				require.Equal(t, written, faulty.Calls(vfs.OpWriteAt|vfs.OpAllocate), "%s: opening and closing once more does nothing", what)
			}
		}
	}
}

// TestFullTmpfs fills a real file system.
func TestFullTmpfs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NO REAL DISK WAS FILLED: this mounts a tmpfs, on Linux")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("NO REAL DISK WAS FILLED: mounting a tmpfs: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	o := log.Options{SegmentBytes: 128 << 10}
	l, err := log.Open(ctx, dir+"/log", o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	for err == nil {
		_, err = l.Append(rec(value(int(l.End()))))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	end := l.End()
	t.Logf("full at %d records", end)
	assert.Greater(t, end, int64(3000))
	wantValues(t, l)
	_, err = l.Append(rec(value(int(end))))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, l.Sync(ctx), syscall.ENOSPC, "there is no room for a checkpoint")
	require.NoError(t, l.DropBefore(end/2))
	require.NoError(t, l.Sync(ctx))
	for l.End() < end+500 {
		fill(t, l, 1)
	}
	wantValues(t, l)
	closeLog(t, l)
	l, err = log.Open(ctx, dir+"/log", o)
	require.NoError(t, err)
	assert.Equal(t, end+500, l.End())
	wantValues(t, l)
	closeLog(t, l)
}
