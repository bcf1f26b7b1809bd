package log_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestDropBefore at every offset around a log of twelve in three segments.
func TestDropBefore(t *testing.T) {
	for offset := int64(-1); offset <= 13; offset++ {
		t.Run(fmt.Sprint(offset), func(t *testing.T) {
			var events []log.DropEvent
			o := small()
			o.Trace.Dropped = func(e log.DropEvent) { events = append(events, e) }
			l, faulty, mem := inMem(t, o)
			fill(t, l, 12)
			err := l.DropBefore(offset)
			if offset > 12 {
				require.ErrorIs(t, err, log.ErrBeyond)
				require.Zero(t, l.First())
				return
			}
			require.NoError(t, err)
			first := max(offset, 0)
			assert.Equal(t, first, l.First())
			assert.GreaterOrEqual(t, l.Durable(), first)
			assert.Equal(t, int64(12), l.End())
			gone := int(first / 5)
			assert.Equal(t, []int64{0, 5, 10}[gone:], bases(l))
			if gone > 0 {
				require.Len(t, events, 1)
				assert.Len(t, events[0].Segments, gone)
				assert.Equal(t, "DropBefore", events[0].Reason)
			}
			if first > 0 {
				_, err = l.Read(first - 1)
				assert.ErrorIs(t, err, log.ErrTrimmed)
			}
			wantValues(t, l)
			for _, name := range names(t, faulty, "log") {
				if gone > 0 {
					assert.False(t, strings.HasPrefix(name, "00000000000000000000."), name)
				}
			}
			require.NoError(t, l.DropBefore(offset), "again")

			// It is durable.
			o.Env.FS = mem.Crash(uint64(offset))
			again := open(t, "log", o)
			assert.Equal(t, first, again.First())
			assert.GreaterOrEqual(t, again.End(), first)
			wantValues(t, again)
			_, err = again.AppendSync(ctx, rec(value(int(again.End()))))
			require.NoError(t, err)
			wantValues(t, again)
		})
	}
}

// TestPitfallR2: a file that cannot be unlinked hinders neither the log nor
// other files, and goes when it can.
func TestPitfallR2Undeletable(t *testing.T) {
	var events []log.DropEvent
	o := small()
	o.Trace.Dropped = func(e log.DropEvent) { events = append(events, e) }
	l, faulty, _ := inMem(t, o)
	fill(t, l, 22)
	faulty.Add(vfs.Rule{Op: vfs.OpRemove, Path: "00000000000000000005.*", Err: syscall.EPERM})
	for range 2 { // it is tried, and told, each time
		err := l.DropBefore(12)
		require.ErrorIs(t, err, syscall.EPERM)
		assert.Equal(t, int64(12), l.First())
		assert.Equal(t, []int64{10, 15, 20}, bases(l))
		wantValues(t, l)
	}
	require.Len(t, events, 1)
	assert.ErrorIs(t, events[0].Err, syscall.EPERM)
	left := strings.Join(names(t, faulty, "log"), " ")
	assert.NotContains(t, left, "00000000000000000000.")
	assert.Contains(t, left, "00000000000000000005.log")

	faulty.Clear()
	require.NoError(t, l.DropBefore(0))
	assert.NotContains(t, strings.Join(names(t, faulty, "log"), " "), "00000000000000000005.")
}

// TestDropBeforeCrash: what a crash kept from being unlinked is not in the log
// that opens, and is removed.
func TestDropBeforeCrash(t *testing.T) {
	o := small()
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	o.Env.FS = faulty
	l := open(t, "log", o)
	fill(t, l, 12)
	var dead *vfs.Mem
	faulty.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpRemove && dead == nil {
			dead = mem.Kill()
		}
	}
	require.Error(t, l.DropBefore(11))
	require.NotNil(t, dead)
	o.Env.FS = dead
	again := open(t, "log", o)
	assert.Equal(t, int64(11), again.First())
	assert.Equal(t, []int64{10}, bases(again))
	require.NoError(t, again.DropBefore(11))
	for _, name := range names(t, dead, "log") {
		assert.False(t, strings.HasPrefix(name, "00000000000000000000.") || strings.HasPrefix(name, "00000000000000000005."), name)
	}
	wantValues(t, again)
}

// TestDropFrom at every offset, with batches of two records: they go whole.
func TestDropFrom(t *testing.T) {
	for offset := int64(1); offset <= 26; offset++ {
		for _, held := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/held=%t", offset, held), func(t *testing.T) {
				o := small()
				l, _, mem := inMem(t, o)
				for i := 0; i < 24; i += 2 {
					_, err := l.Append(rec(value(i)), rec(value(i+1)))
					require.NoError(t, err)
				}
				require.NoError(t, l.DropBefore(3))
				var views []*log.View
				var held0 []string
				for _, base := range bases(l)[1:] {
					if held {
						v, err := l.Borrow(base, 1<<20)
						require.NoError(t, err)
						views, held0 = append(views, v), append(held0, string(v.Bytes()))
					}
				}
				err := l.DropFrom(offset)
				end := int64(24)
				switch {
				case offset < 3:
					require.ErrorIs(t, err, log.ErrTrimmed)
				case offset == 3:
					end = 3 // the batch began below First
				case offset < 24:
					end = offset &^ 1
				}
				if offset >= 3 {
					require.NoError(t, err)
				}
				assert.Equal(t, end, l.End())
				assert.LessOrEqual(t, l.Durable(), end)
				wantValues(t, l)
				fill(t, l, 7)
				wantValues(t, l)
				for i, v := range views {
					assert.Equal(t, held0[i], string(v.Bytes()), "a View stays what it was")
					v.Release()
				}
				require.NoError(t, l.Sync(ctx))

				o.Env.FS = mem.Crash(uint64(offset))
				again := open(t, "log", o)
				assert.Equal(t, end+7, again.End())
				wantValues(t, again)
			})
		}
	}
}

// TestPitfallR15: whatever call of DropFrom fails, the log is the old one or
// the new one, at once and after a crash; if it goes on, it is the same one then.
func TestPitfallR15EachCallOfDropFromFails(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		for nth := 0; ; nth++ {
			o := small()
			l, faulty, mem := inMem(t, o)
			fill(t, l, 17)
			require.NoError(t, l.Sync(ctx))
			rule := faulty.Add(vfs.Rule{After: nth, Count: 1, Err: cause})
			err := l.DropFrom(7)
			faulty.Clear()
			if rule.Failed() == 0 {
				require.NoError(t, err)
				require.Greater(t, nth, 5)
				break
			}
			if err != nil {
				require.ErrorIs(t, err, cause, "call %d", nth)
			}
			end := l.End()
			require.Contains(t, []int64{7, 17}, end, "call %d: %v", nth, err)
			failed := errors.Is(err, log.ErrFailed)
			if failed {
				_, err := l.Append(rec("x"))
				require.ErrorIs(t, err, log.ErrFailed)
			} else {
				wantValues(t, l)
			}
			o.Env.FS = mem.Kill()
			again := open(t, "log", o)
			require.Contains(t, []int64{7, 17}, again.End(), "call %d", nth)
			if !failed {
				require.Equal(t, end, again.End(), "call %d: %v", nth, err)
			}
			wantValues(t, again)
			fill(t, again, 3)
			wantValues(t, again)
		}
	}
}

// TestPitfallR10: dropping everything gives the space back.
func TestPitfallR10SpaceComesBack(t *testing.T) {
	l, _, mem := inMem(t, small())
	fill(t, l, 500)
	require.NoError(t, l.Sync(ctx))
	require.NoError(t, l.DropBefore(l.End()))
	assert.Len(t, l.Segments(), 1)
	assert.Less(t, mem.Used(), int64(16<<10))
	fill(t, l, 3)
	wantValues(t, l)
}

// A cut down to the log start takes all that the newest epoch wrote. Who leads
// goes on in it: what comes next must not carry an older one than what lies below
// the log start in the same file, or the history derived from it would be wrong.
func TestDropFromGoesOnInTheNewestEpoch(t *testing.T) {
	for _, between := range []string{"", "closed", "killed"} {
		l, _, mem := inMem(t, log.Options{})
		o := log.Options{SegmentBytes: 64 << 10}
		require.NoError(t, l.SetLeaderEpoch(3))
		fill(t, l, 4)
		require.NoError(t, l.DropBefore(2))
		require.NoError(t, l.DropFrom(2))
		require.EqualValues(t, -1, l.LeaderEpoch())
		if between == "closed" {
			require.NoError(t, l.Close())
		}
		if between != "" {
			mem = mem.Kill()
			l = open(t, "log", on(o, mem))
			require.EqualValues(t, -1, l.LeaderEpoch())
		}
		fill(t, l, 1)
		require.EqualValues(t, 3, l.LeaderEpoch(), between)
		require.Equal(t, []log.EpochEntry{{Epoch: 3, Start: 2}}, l.LeaderEpochs())
		fill(t, l, 1)
		require.NoError(t, l.DropFrom(3))
		require.Equal(t, []log.EpochEntry{{Epoch: 3, Start: 2}}, l.LeaderEpochs())
		require.NoError(t, l.Close())
		mem = mem.Kill()
		require.NoError(t, mem.Remove("log/leader-epoch-checkpoint"))
		l = open(t, "log", on(o, mem))
		known, at, ok := l.EndOffsetForEpoch(3)
		require.True(t, ok)
		require.EqualValues(t, 3, known)
		require.EqualValues(t, 3, at)
	}
}

// A batch that begins below the log start is cut with all of its producer's state.
func TestDropFromForgetsTheBatchAtTheLogStart(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	send(t, l, 7, 0, 0, 5)
	require.NoError(t, l.DropBefore(1))
	require.NoError(t, l.DropFrom(2))
	require.EqualValues(t, 1, l.End())
	require.Empty(t, l.Producers())
	require.Equal(t, int64(1), send(t, l, 7, 0, 0, 5).First, "it is sent again")
}
