package concurrent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

// method is something that a hook, or a loop over records, may do to its log.
type method struct {
	name string
	call func(l *log.Log) error
}

var methods = []method{
	{"Append", func(l *log.Log) error { _, err := l.Append(recordOf(1, 0)); return err }},
	{"AppendSync", func(l *log.Log) error { _, err := l.AppendSync(ctx, recordOf(1, 0)); return err }},
	{"AppendBatch", func(l *log.Log) error {
		_, err := l.AppendBatch(encoded(1, 1, 5, 0, false), log.FromClient)
		return err
	}},
	{"EndTransaction", func(l *log.Log) error { _, err := l.EndTransaction(log.EndTxn{ProducerID: 1}); return err }},
	{"Sync", func(l *log.Log) error { return l.Sync(ctx) }},
	{"Checkpoint", func(l *log.Log) error { return l.Checkpoint(ctx) }},
	{"DropBefore", func(l *log.Log) error { return l.DropBefore(l.First() + 1) }},
	{"DropFrom", func(l *log.Log) error { return l.DropFrom(l.End() - 1) }},
	{"DropAll", func(l *log.Log) error { return l.DropAll(7) }},
	{"Retain", func(l *log.Log) error { _, err := l.Retain(ctx); return err }},
	{"Compact", func(l *log.Log) error { _, err := l.Compact(ctx); return err }},
	{"Close", func(l *log.Log) error { return l.Close() }},
	{"SetHighWatermark", func(l *log.Log) error { return l.SetHighWatermark(3) }},
	{"SetLeaderEpoch", func(l *log.Log) error { return l.SetLeaderEpoch(l.LeaderEpoch() + 1) }},
	{"Maintain", func(l *log.Log) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return l.Maintain(ctx, log.Every{Sync: time.Hour})
	}},
	{"reads", func(l *log.Log) error {
		_, err := l.Read(l.First())
		for _, e := range l.Isolated(log.ReadCommitted).From(l.First()) {
			err = errors.Join(err, e)
		}
		if v, e := l.Borrow(l.First(), 100); e == nil {
			v.Release()
		}
		_, _ = l.OffsetAt(epochStart)
		_, _ = l.Explain(l.First())
		_, _ = l.ExplainAt(epochStart)
		return err
	}},
	{"figures", func(l *log.Log) error {
		l.Stats()
		l.Segments()
		l.Producers()
		l.Aborted(0, l.End())
		l.LeaderEpochs()
		l.EndOffsetForEpoch(0)
		_, err := l.Expired()
		_, e := l.Dirty()
		return errors.Join(err, e, l.Refresh(ctx))
	}},
}

// allowed are errors of a method that comes when others have been at work.
func allowed(err error) bool {
	return documented(err) || errors.Is(err, log.ErrClosed)
}

// hooked is a log whose hook of that name calls do, the nth time it is called;
// not for what do itself brings about.
func hooked(t *testing.T, name string, nth int, do func(*log.Log)) (l *log.Log, called *atomic.Bool) {
	var here atomic.Pointer[log.Log]
	var n atomic.Int64
	called = new(atomic.Bool)
	hook := func(this string) {
		if l := here.Load(); this == name && l != nil && n.Add(1) == int64(nth) && called.CompareAndSwap(false, true) {
			do(l)
		}
	}
	o := log.Options{SegmentBytes: 600, Retention: retention.MaxBytes(2000), Compaction: &compact.Options{MapBytes: 64 << 10}}
	o.Env.FS = vfs.NewMem()
	o.Trace = log.Trace{
		Recovered: func(*recovery.Report) { hook("Recovered") },
		Rolled:    func(log.RollEvent) { hook("Rolled") },
		Synced:    func(log.SyncEvent) { hook("Synced") },
		Dropped:   func(log.DropEvent) { hook("Dropped") },
		Compacted: func(log.CompactEvent) { hook("Compacted") },
	}
	l, err := log.Open(ctx, "log", o)
	require.NoError(t, err)
	here.Store(l)
	return l, called
}

// work makes every hook be called, by everything that calls one.
func work(t *testing.T, l *log.Log) {
	check := func(err error) {
		if !allowed(err) {
			t.Error(err)
		}
	}
	fill := func(n int) {
		for i := range n {
			_, err := l.Append(recordOf(i+1, 0), recordOf(i+1, 1))
			check(err)
		}
	}
	fill(12)
	check(l.Sync(ctx))
	_, err := l.Compact(ctx)
	check(err)
	fill(12)
	_, err = l.Compact(ctx)
	check(err)
	check(l.Checkpoint(ctx))
	check(l.DropBefore(l.First() + 3))
	_, err = l.Retain(ctx)
	check(err)
	fill(6)
	check(l.DropFrom(max(l.End()-8, l.First())))
	_, err = l.AppendSync(ctx, recordOf(1, 0))
	check(err)
	fill(12)
	check(l.DropAll(100))
	fill(1)
	check(l.Close())
}

// TestHooksMayDoAnything: whatever a hook does to its log, whichever of the
// hooks it is and whatever it was called by, nobody waits for ever.
func TestHooksMayDoAnything(t *testing.T) {
	for _, name := range []string{"Rolled", "Synced", "Dropped", "Compacted"} {
		for _, m := range methods {
			for nth := 1; ; nth++ {
				l, called := hooked(t, name, nth, func(l *log.Log) {
					if err := m.call(l); !allowed(err) {
						t.Errorf("%s from %s, call %d: %v", m.name, name, nth, err)
					}
				})
				done := make(chan struct{})
				go func() {
					defer close(done)
					work(t, l)
				}()
				awaited(t, done, fmt.Sprintf("%s from %s, call %d: hangs", m.name, name, nth))
				if !called.Load() {
					require.Greater(t, nth, 1, "%s was never called", name)
					break
				}
			}
		}
	}
}

// TestWalksMayDoAnything: so may the body of a loop over records.
func TestWalksMayDoAnything(t *testing.T) {
	for _, m := range methods {
		for _, tail := range []bool{false, true} {
			l, _ := hooked(t, "", 0, nil)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for i := range 12 {
					_, err := l.Append(recordOf(i+1, 0))
					require.NoError(t, err)
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				walk := l.From(0)
				if tail {
					walk = l.Tail(ctx, 0)
				}
				n := 0
				for _, err := range walk {
					if err != nil {
						if !allowed(err) && !errors.Is(err, context.Canceled) {
							t.Errorf("%s in a walk: %v", m.name, err)
						}
						break
					}
					if err := m.call(l); !allowed(err) {
						t.Errorf("%s in a walk: %v", m.name, err)
					}
					if n++; n == 20 {
						cancel()
					}
					if n > 100 {
						break // it appends as fast as it reads
					}
					if l.End()-l.First() < 2 {
						cancel()
					}
				}
				if err := l.Close(); !allowed(err) {
					t.Error(err)
				}
			}()
			if tail { // what ends the log's growth leaves a Tail waiting
				go func() {
					time.Sleep(50 * time.Millisecond)
					_ = l.Close()
				}()
			}
			awaited(t, done, m.name+" in a walk: hangs")
		}
	}
}

// TestManagerHooksMayDoAnything: so may hooks of a Manager's logs, with the
// Manager.
func TestManagerHooksMayDoAnything(t *testing.T) {
	calls := map[string]func(m *log.Manager) error{
		"Create":     func(m *log.Manager) error { _, err := m.Create(ctx, "new-0", log.TopicID{1}); return err },
		"Reopen":     func(m *log.Manager) error { _, err := m.Reopen(ctx, "a-0"); return err },
		"Delete":     func(m *log.Manager) error { return m.Delete("a-0") },
		"Checkpoint": func(m *log.Manager) error { return m.Checkpoint(ctx) },
		"Compact":    func(m *log.Manager) error { _, err := m.Compact(ctx, "b-0"); return err },
		"Close":      func(m *log.Manager) error { return m.Close() },
		"looks": func(m *log.Manager) error {
			_, err := m.Log("a-0")
			m.Partitions()
			for range m.Logs() {
			}
			return err
		},
	}
	for name, do := range calls {
		for nth := 1; ; nth++ {
			var m atomic.Pointer[log.Manager]
			var n atomic.Int64
			called := false
			hook := func() {
				if m := m.Load(); m != nil && n.Add(1) == int64(nth) {
					called = true
					if err := do(m); !allowed(err) && !errors.Is(err, log.ErrNoPartition) && !errors.Is(err, log.ErrExists) {
						t.Errorf("%s from hook call %d: %v", name, nth, err)
					}
				}
			}
			o := log.ManagerOptions{Log: log.Options{SegmentBytes: 600, Compaction: &compact.Options{MapBytes: 64 << 10}}}
			o.Log.Env.FS = vfs.NewMem()
			o.Log.Trace = log.Trace{Recovered: func(*recovery.Report) { hook() }, Synced: func(log.SyncEvent) { hook() },
				Rolled: func(log.RollEvent) { hook() }, Dropped: func(log.DropEvent) { hook() }}
			manager, err := log.OpenManager(ctx, "data", o)
			require.NoError(t, err)
			m.Store(manager)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, name := range []string{"a-0", "b-0"} {
					l, err := manager.Create(ctx, name, log.TopicID{1})
					if err != nil {
						continue // closed by the hook
					}
					for i := range 6 {
						_, _ = l.Append(recordOf(i+1, 0), recordOf(i+1, 1))
					}
					_ = l.DropBefore(8)
				}
				_ = manager.Checkpoint(ctx)
				_, _ = manager.Compact(ctx, "b-0")
				_ = manager.Delete("b-0")
				_ = manager.Close()
			}()
			awaited(t, done, fmt.Sprintf("%s from hook call %d: hangs", name, nth))
			if !called {
				require.Greater(t, nth, 5)
				break
			}
		}
	}
}

// handler hands what a log says over to a goroutine that appends it to that log.
type handler struct{ lines chan string }

func (h handler) Enabled(context.Context, slog.Level) bool { return true }
func (h handler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h handler) WithGroup(string) slog.Handler            { return h }
func (h handler) Handle(_ context.Context, r slog.Record) error {
	h.lines <- r.Message
	return nil
}

// TestLogOfItself: a log can take what it says itself, if that is handed over.
func TestLogOfItself(t *testing.T) {
	h := handler{make(chan string, 100)}
	l, err := log.Open(ctx, "log", log.Options{SegmentBytes: 600, Logger: slog.New(h), Env: log.Env{FS: vfs.NewMem()}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for line := range h.lines {
			if _, err := l.Append(record.Record{Value: []byte(line)}); !allowed(err) {
				t.Error(err)
			}
		}
	})
	for l.End() == 0 {
		_, err := l.Read(0)
		require.True(t, allowed(err))
	}
	r, err := l.Read(0)
	require.NoError(t, err)
	require.Equal(t, "log: opened", string(r.Value))
	require.NoError(t, l.Close())
	close(h.lines)
	wg.Wait()
}
