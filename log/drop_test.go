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
// the new one, at once and after opening again.
func TestPitfallR15EachCallOfDropFromFails(t *testing.T) {
	for nth := 0; ; nth++ {
		o := small()
		l, faulty, _ := inMem(t, o)
		fill(t, l, 17)
		require.NoError(t, l.Sync(ctx))
		rule := faulty.Add(vfs.Rule{After: nth, Count: 1, Err: syscall.EIO})
		err := l.DropFrom(7)
		if rule.Failed() == 0 {
			faulty.Clear()
			require.NoError(t, err)
			require.Greater(t, nth, 5)
			return
		}
		if err != nil {
			require.ErrorIs(t, err, syscall.EIO, "call %d", nth)
		}
		require.Contains(t, []int64{7, 17}, l.End(), "call %d: %v", nth, err)
		faulty.Clear()
		if errors.Is(err, log.ErrFailed) {
			_, err := l.Append(rec("x"))
			require.ErrorIs(t, err, log.ErrFailed)
		} else {
			wantValues(t, l)
		}
		_ = l.Close()
		o.Env.FS = faulty
		again := open(t, "log", o)
		require.GreaterOrEqual(t, again.End(), int64(7), "call %d", nth)
		wantValues(t, again)
		fill(t, again, 3)
		wantValues(t, again)
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
