package log_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention"
)

// TestRetain by each policy, on segments of five records, one a minute: bases
// 0, 5, 10, 15 and the active one at 20, four minutes old.
func TestRetain(t *testing.T) {
	now := someTime.Add(25 * time.Minute)
	floor := func(at int64) retention.Policy { return retention.Floor(func() int64 { return at }) }
	const all = 22 // a new segment is begun there, and the active one goes, too
	for _, c := range []struct {
		policy retention.Policy
		first  int64
	}{
		{nil, 0},
		{retention.MaxAge(time.Hour), 0},
		{retention.MaxAge(21 * time.Minute), 0}, // the youngest of a segment decides
		{retention.MaxAge(21*time.Minute - 1), 5},
		{retention.MaxAge(4 * time.Minute), 20},
		{retention.MaxAge(0), all},
		{retention.MaxAge(-1), 0}, // none, as Kafka's
		{retention.MaxBytes(1 << 20), 0},
		{retention.MaxBytes(3 * 1000), 5},
		{retention.MaxBytes(1), 20},
		{retention.MaxBytes(0), all},
		{retention.MaxBytes(-1), 0},
		{floor(4), 0},
		{floor(5), 5},
		{floor(100), 20},
		{retention.Any(floor(5), retention.MaxAge(16*time.Minute-1)), 10},
		{retention.All(floor(5), retention.MaxAge(0)), 5},
		{retention.All(floor(100), retention.MaxAge(0)), 20},
		{retention.Any(floor(5), retention.MaxAge(0)), all},
		{retention.Any(), 0},
		{retention.All(), 0},
	} {
		t.Run(fmt.Sprintf("%v to %d", c.policy, c.first), func(t *testing.T) {
			var events []log.DropEvent
			o := small()
			o.Retention = c.policy
			o.Env.Now = func() time.Time { return now }
			o.Trace.Dropped = func(e log.DropEvent) { events = append(events, e) }
			l, _, _ := inMem(t, o)
			for i := range 22 {
				_, err := l.Append(timed(value(i), time.Duration(i)*time.Minute))
				require.NoError(t, err)
			}
			before := l.Segments()
			expired, err := l.Expired()
			require.NoError(t, err)
			assert.Equal(t, before, l.Segments(), "Expired only looks")
			dropped, err := l.Retain(ctx)
			require.NoError(t, err)
			assert.Equal(t, len(expired), len(dropped))
			assert.Equal(t, c.first, l.First())
			assert.Equal(t, int64(22), l.End())
			gone := int(c.first+4) / 5
			assert.Equal(t, []int64{0, 5, 10, 15, 20, 22}[gone:max(gone+1, 5)], bases(l))
			if gone > 0 {
				before[4].Active = false
				assert.Equal(t, before[:gone], dropped)
				require.Len(t, events, 1)
				assert.Equal(t, c.policy.String(), events[0].Reason)
				assert.Equal(t, before[:gone], events[0].Segments)
			} else {
				assert.Empty(t, dropped)
			}
			wantValues(t, l)
			dropped, err = l.Retain(ctx)
			require.NoError(t, err)
			assert.Empty(t, dropped, "a second time there is nothing to drop")
		})
	}
}

func TestRetainContext(t *testing.T) {
	o := small()
	o.Retention = retention.MaxBytes(0)
	l, _, _ := inMem(t, o)
	fill(t, l, 12)
	done, cancel := context.WithCancelCause(ctx)
	cause := errors.New("enough")
	cancel(cause)
	_, err := l.Retain(done)
	assert.ErrorIs(t, err, cause)
	assert.Zero(t, l.First())
}

// TestPitfallR3: a retention that fails says so each time and goes on working.
func TestPitfallR3RetainFails(t *testing.T) {
	o := small()
	o.Retention = retention.MaxBytes(1)
	l, faulty, _ := inMem(t, o)
	fill(t, l, 12)
	faulty.Add(vfs.Rule{Op: vfs.OpRemove, Path: "*.log", Err: syscall.EPERM})
	dropped, err := l.Retain(ctx)
	assert.ErrorIs(t, err, syscall.EPERM)
	assert.Len(t, dropped, 2)
	_, err = l.Retain(ctx)
	assert.ErrorIs(t, err, syscall.EPERM, "nothing new is expired, the old is tried")
	faulty.Clear()
	_, err = l.Retain(ctx)
	assert.NoError(t, err)
	assert.NotContains(t, names(t, faulty, "log"), "00000000000000000000.log")
}

func TestMaintain(t *testing.T) {
	maintain := func(t *testing.T, l *log.Log, every log.Every) (stop func() error) {
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- l.Maintain(ctx, every) }()
		return func() error { cancel(); return <-ended }
	}
	t.Run("Sync", func(t *testing.T) {
		l, _, _ := inMem(t, small())
		stop := maintain(t, l, log.Every{Sync: time.Millisecond})
		fill(t, l, 12)
		soon(t, "everything becomes durable", func() bool { return l.Durable() == 12 })
		assert.NoError(t, stop())
	})
	t.Run("SyncBytes", func(t *testing.T) {
		l, _, _ := inMem(t, log.Options{})
		fill(t, l, 1)
		require.NoError(t, l.Sync(ctx))
		stop := maintain(t, l, log.Every{SyncBytes: 2000})
		fill(t, l, 5)
		time.Sleep(30 * time.Millisecond)
		assert.Equal(t, int64(1), l.Durable(), "1000 bytes are below the limit")
		fill(t, l, 12)
		soon(t, "2400 bytes are above", func() bool { return l.Durable() == 18 })
		assert.NoError(t, stop())
	})
	t.Run("SyncBytes notes", func(t *testing.T) {
		l, _, mem := inMem(t, log.Options{SegmentBytes: 64 << 20})
		piece := rec(strings.Repeat("x", 256<<10))
		add := func(n int) {
			for range n {
				_, err := l.Append(piece)
				require.NoError(t, err)
			}
			soon(t, "it is durable", func() bool { return l.Durable() == l.End() })
		}
		noted := func() int64 {
			c, err := recovery.ReadCheckpoint(mem, "log")
			require.NoError(t, err)
			return c.RecoveryPoint
		}
		stop := maintain(t, l, log.Every{SyncBytes: 1})
		add(60)
		time.Sleep(30 * time.Millisecond)
		assert.Zero(t, noted(), "15 MiB are not worth a note")
		add(5)
		soon(t, "16 MiB are", func() bool { return noted() >= 64 })
		at := noted()
		add(int(at - 5)) // 15 MiB since
		time.Sleep(30 * time.Millisecond)
		assert.Equal(t, at, noted())
		add(10)
		soon(t, "16 MiB more", func() bool { return noted() >= at+64 })
		assert.NoError(t, stop())
	})
	t.Run("Retain", func(t *testing.T) {
		o := small()
		o.Retention = retention.MaxBytes(1)
		l, faulty, _ := inMem(t, o)
		fill(t, l, 12)
		faulty.Add(vfs.Rule{Op: vfs.OpRemove, Count: 3, Err: syscall.EPERM})
		stop := maintain(t, l, log.Every{Retain: time.Millisecond})
		soon(t, "segments go, failures or not", func() bool { return l.First() == 10 && len(names(t, faulty, "log")) < 7 })
		assert.NoError(t, stop())
	})
	t.Run("nothing to do", func(t *testing.T) {
		l, _, _ := inMem(t, small())
		stop := maintain(t, l, log.Every{})
		assert.NoError(t, stop())
	})
	t.Run("the log fails", func(t *testing.T) {
		l, faulty, _ := inMem(t, small())
		fill(t, l, 2)
		faulty.Add(vfs.Rule{Op: vfs.OpSync, Count: 1, Err: syscall.EIO})
		fill(t, l, 1)
		assert.ErrorIs(t, l.Maintain(ctx, log.Every{Sync: time.Millisecond}), log.ErrFailed)
	})
	t.Run("the disk is full, and has room again", func(t *testing.T) {
		for name, every := range map[string]log.Every{"checkpoint": {Sync: time.Millisecond}, "bytes": {SyncBytes: 1}} {
			o := small()
			var told atomic.Int64
			o.Logger = slog.New(slog.NewTextHandler(writerFunc(func(line []byte) (int, error) {
				if bytes.Contains(line, []byte("a sync failed")) && bytes.Contains(line, []byte("no space left")) {
					told.Add(1)
				}
				return len(line), nil
			}), nil))
			l, faulty, _ := inMem(t, o)
			fill(t, l, 2)
			faulty.Add(vfs.Rule{Op: vfs.OpCreate, Path: "seglog.checkpoint*", Err: syscall.ENOSPC})
			stop := maintain(t, l, every)
			time.Sleep(8 * time.Millisecond) // a look at what was there before
			fill(t, l, 12)                   // over a roll, of which the checkpoint has to know
			soon(t, name+": the failure is told", func() bool { return told.Load() > 0 })
			if name == "bytes" {
				time.Sleep(50 * time.Millisecond)
				assert.LessOrEqual(t, told.Load(), int64(2), "not at each look")
			}
			assert.Less(t, l.Durable(), int64(14))
			faulty.Clear()
			soon(t, name+": all is durable", func() bool { return l.Durable() == 14 })
			assert.NoError(t, stop())
		}
	})
	t.Run("the log is closed", func(t *testing.T) {
		for _, every := range []log.Every{{Sync: time.Millisecond}, {SyncBytes: 1}, {Retain: time.Millisecond}} {
			l, _, _ := inMem(t, small())
			fill(t, l, 2)
			ended := make(chan error, 1)
			go func() { ended <- l.Maintain(ctx, every) }()
			time.Sleep(3 * time.Millisecond)
			closeLog(t, l)
			select {
			case err := <-ended:
				assert.ErrorIs(t, err, log.ErrClosed)
			case <-time.After(time.Second):
				t.Errorf("Maintain(%+v) does not notice Close", every)
			}
		}
	})
	t.Run("read-only", func(t *testing.T) {
		l, faulty, _ := inMem(t, small())
		fill(t, l, 2)
		ro := open(t, "log", log.Options{Mode: log.ReadOnly, Env: log.Env{FS: faulty}})
		assert.ErrorIs(t, ro.Maintain(ctx, log.Every{Sync: time.Millisecond}), log.ErrReadOnly)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
