package log_test

import (
	"context"
	"errors"
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
)

// slow makes every sync of a file take a while.
func slow(f *vfs.Faulty, d time.Duration) {
	f.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpSync {
			time.Sleep(d)
		}
	}
}

// TestGroupCommit: many that want to be durable at once share syncs.
func TestGroupCommit(t *testing.T) {
	var waiters atomic.Int64
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	slow(faulty, 2*time.Millisecond)
	l := open(t, "log", log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: faulty}, Trace: log.Trace{Synced: func(e log.SyncEvent) {
		waiters.Store(max(waiters.Load(), int64(e.Waiters)))
		assert.NoError(t, e.Err)
		assert.GreaterOrEqual(t, e.Took, 2*time.Millisecond)
	}}})
	fill(t, l, 1)
	const goroutines, each = 64, 5
	calls := faulty.Calls(vfs.OpSync)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				first, err := l.AppendSync(ctx, rec("x"))
				assert.NoError(t, err)
				assert.Greater(t, l.Durable(), first)
			}
		})
	}
	wg.Wait()
	syncs := faulty.Calls(vfs.OpSync) - calls
	t.Logf("%d appends in %d syncs, up to %d waiters", goroutines*each, syncs, waiters.Load())
	assert.Less(t, syncs, goroutines*each/8)
	assert.Greater(t, waiters.Load(), int64(goroutines/2))
	assert.Equal(t, l.End(), l.Durable())

	crashed := mem.Crash(1)
	again := open(t, "log", log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: crashed}})
	assert.Equal(t, int64(goroutines*each+1), again.End())
}

// TestDurableIsNotEnd is pitfalls F1 and F8: Append promises End, AppendSync
// and Sync promise Durable.
func TestPitfallF1DurableIsNotEnd(t *testing.T) {
	l, _, mem := inMem(t, log.Options{SegmentBytes: 64 << 10})
	_, err := l.AppendSync(ctx, rec(value(0)))
	require.NoError(t, err)
	fill(t, l, 1)
	assert.Equal(t, int64(1), l.Durable())
	assert.Equal(t, int64(2), l.End())
	for seed, ends := uint64(0), map[int64]bool{}; len(ends) < 2; seed++ {
		require.Less(t, seed, uint64(100), "a power cut either keeps or loses what was not synced")
		again := open(t, "log", log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: mem.Crash(seed)}})
		require.GreaterOrEqual(t, again.End(), int64(1))
		wantValues(t, again)
		ends[again.End()] = true
	}
	assert.ErrorIs(t, l.Sync(ctx), log.ErrFailed, "the machine is dead")
}

// TestSyncContext: who stops waiting gets the error of ctx; the record is in
// the log all the same.
func TestSyncContext(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	hold := make(chan struct{})
	var holding atomic.Bool
	reached := make(chan struct{}, 1)
	faulty.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpSync && holding.Load() {
			reached <- struct{}{}
			<-hold
		}
	}
	l := open(t, "log", log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: faulty}})
	fill(t, l, 1)
	holding.Store(true)
	leader := make(chan error)
	go func() { leader <- l.Sync(ctx) }()
	<-reached
	done, cancel := context.WithCancel(ctx)
	follower := make(chan error)
	go func() {
		_, err := l.AppendSync(done, rec(value(1)))
		follower <- err
	}()
	soon(t, "the record is appended while a sync is under way", func() bool { return l.End() == 2 })
	cancel()
	assert.ErrorIs(t, <-follower, context.Canceled)
	holding.Store(false)
	close(hold)
	assert.NoError(t, <-leader)
	wantValues(t, l)
	assert.Equal(t, int64(2), l.End())
}

// TestPitfallA1: a failed sync is final until the log is opened again; reads go
// on.
func TestPitfallA1FailedSync(t *testing.T) {
	// Relies on A4 (docs/ASSUMPTIONS.md).
	var events []log.SyncEvent
	o := small()
	o.Trace.Synced = func(e log.SyncEvent) { events = append(events, e) }
	l, faulty, _ := inMem(t, o)
	fill(t, l, 12)
	require.NoError(t, l.Sync(ctx))
	fill(t, l, 1)
	faulty.Add(vfs.Rule{Op: vfs.OpSync, Err: syscall.EIO, Count: 1})
	first, err := l.AppendSync(ctx, rec(value(13)))
	assert.Equal(t, int64(13), first)
	require.ErrorIs(t, err, log.ErrFailed)
	require.ErrorIs(t, err, syscall.EIO)
	assert.ErrorIs(t, events[len(events)-1].Err, log.ErrFailed)
	assert.Equal(t, int64(12), l.Durable())

	for what, do := range map[string]func() error{
		"Append":     func() error { _, err := l.Append(rec("x")); return err },
		"AppendSync": func() error { _, err := l.AppendSync(ctx, rec("x")); return err },
		"AppendBatch": func() error {
			_, err := l.AppendBatch(encode(t, record.BatchOptions{}, rec("x")), log.FromClient)
			return err
		},
		"Sync":       func() error { return l.Sync(ctx) },
		"Checkpoint": func() error { return l.Checkpoint(ctx) },
		"DropBefore": func() error { return l.DropBefore(3) },
		"DropFrom":   func() error { return l.DropFrom(3) },
		"Retain":     func() error { _, err := l.Retain(ctx); return err },
		"Maintain":   func() error { return l.Maintain(ctx, log.Every{Sync: time.Millisecond}) },
	} {
		err := do()
		assert.ErrorIs(t, err, log.ErrFailed, what)
		assert.ErrorIs(t, err, syscall.EIO, what)
	}
	assert.ErrorIs(t, l.Err(), log.ErrFailed)
	wantValues(t, l)
	assert.Equal(t, int64(14), l.End())

	closed := l.Close()
	assert.True(t, closed == nil || errors.Is(closed, log.ErrFailed), "%v", closed)
	o.Env.FS = faulty
	again := open(t, "log", o)
	assert.Equal(t, int64(14), again.End())
	_, err = again.AppendSync(ctx, rec(value(14)))
	assert.NoError(t, err)
	wantValues(t, again)
}

// TestAppendSyncTells: where an AppendSync failed, its offset tells whether the
// records are in the log and only the sync is to be tried again.
func TestAppendSyncTells(t *testing.T) {
	l, faulty, _ := inMem(t, small())
	fill(t, l, 5)
	for nth := 0; ; nth++ {
		for l.End()%5 != 0 { // the next one rolls
			fill(t, l, 1)
		}
		end := l.End()
		rule := faulty.Add(vfs.Rule{Op: vfs.OpCreate | vfs.OpWriteAt | vfs.OpAllocate, After: nth, Count: 1, Err: syscall.EDQUOT})
		first, err := l.AppendSync(ctx, rec(value(int(end))))
		faulty.Clear()
		switch {
		case err == nil:
			require.Equal(t, end, first)
		case first < 0:
			require.Equal(t, end, l.End())
			_, err = l.AppendSync(ctx, rec(value(int(end))))
			require.NoError(t, err)
		default:
			require.Equal(t, end, first)
			require.NoError(t, l.Sync(ctx))
		}
		require.Equal(t, end+1, l.End())
		require.Equal(t, end+1, l.Durable())
		wantValues(t, l)
		if rule.Failed() == 0 {
			require.Greater(t, nth, 5)
			return
		}
	}
}

// TestEverySyncCanFail fails each sync, of files and directories, in turn: who
// was promised durability has it.
func TestEverySyncCanFail(t *testing.T) {
	for nth := 0; ; nth++ {
		mem := vfs.NewMem()
		faulty := vfs.NewFaulty(mem)
		o := small()
		o.Env.FS = faulty
		rule := faulty.Add(vfs.Rule{Op: vfs.OpSync | vfs.OpSyncDir, After: nth, Count: 1, Err: syscall.EIO})
		promised := int64(0)
		if l, err := log.Open(ctx, "log", o); err == nil {
			for i := range 20 {
				if _, err := l.AppendSync(ctx, rec(value(i))); err != nil {
					break
				}
				promised = l.End()
			}
			_ = l.Close()
		}
		for seed := range uint64(4) {
			after := small()
			after.Env.FS = mem.Crash(seed)
			l := open(t, "log", after)
			require.GreaterOrEqual(t, l.End(), promised, "sync %d fails", nth)
			wantValues(t, l)
		}
		if rule.Failed() == 0 {
			require.Greater(t, nth, 20)
			return
		}
	}
}
