package log_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestKeptIsReadableDuringCuts: whatever stays when a log is cut, or exchanged
// by compaction, can be read at any moment of it.
func TestKeptIsReadableDuringCuts(t *testing.T) {
	l, _, _ := inMem(t, compactedLog())
	for i := range 3 {
		put(t, l, keyed(fmt.Sprint("kept", i), "1"))
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for i := range int64(3) {
					_, err := l.Read(i)
					if !assert.NoError(t, err) {
						return
					}
				}
			}
		})
	}
	for n := range 500 {
		put(t, l, keyed("x", "1"))
		if n%2 == 0 {
			require.NoError(t, l.DropFrom(3))
			continue
		}
		roll(t, l)
		compacted(t, l)
	}
	close(stop)
	wg.Wait()
}

// TestReadersOfAFailedChange: whichever call of a cut or a compaction fails,
// readers get what they ask for, or why they cannot; they do not try for ever.
func TestReadersOfAFailedChange(t *testing.T) {
	for name, change := range map[string]func(*log.Log) error{
		"cut":     func(l *log.Log) error { return l.DropFrom(1) },
		"compact": func(l *log.Log) error { _, err := l.Compact(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for nth := 0; ; nth++ {
				l, faulty, _ := inMem(t, compactedLog())
				for range 3 {
					put(t, l, keyed("a", "1"))
					roll(t, l)
				}
				put(t, l, keyed("a", "1"))
				rule := faulty.Add(vfs.Rule{Op: vfs.ChangeOp, After: nth, Count: 1, Err: syscall.EIO})
				err := change(l)
				faulty.Clear()
				if rule.Failed() == 0 {
					require.NoError(t, err)
					break
				}
				readers := make(chan error, 3)
				go func() {
					var err error
					for i := range l.End() + 1 {
						_, err = l.Read(i)
					}
					readers <- err
				}()
				go func() { _, err := l.OffsetAt(someTime); readers <- err }()
				go func() {
					v, err := l.Borrow(l.First(), 1)
					if err == nil {
						v.Release()
					}
					readers <- err
				}()
				ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
				for range cap(readers) {
					select {
					case err := <-readers:
						if errors.Is(err, log.ErrFailed) {
							failed++
							continue
						}
						ok := err == nil || errors.Is(err, log.ErrBeyond) || errors.Is(err, log.ErrNoRecord) || err == io.EOF
						require.True(t, ok, "%v", err)
					case <-ctx.Done():
						t.Fatalf("a reader hangs after call %d failed", nth)
					}
				}
				cancel()
				_ = l.Close()
			}
			if name == "cut" { // what is left of it can be read
				require.Zero(t, failed)
			} else {
				require.Positive(t, failed)
			}
		})
	}
}

// TestSyncsDoNotWaitForUnlinking: it takes long, of large files.
func TestSyncsDoNotWaitForUnlinking(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Minute} {
		o, c := small(), newClock()
		c.option(&o)
		o.DeleteDelay = delay
		l, faulty, _ := inMem(t, o)
		fill(t, l, 22)
		require.NoError(t, l.Sync(ctx))
		removed := 0
		var inside atomic.Bool
		faulty.Trace = func(call vfs.Call) {
			if call.Op != vfs.OpRemove || !inside.CompareAndSwap(false, true) {
				return // the sync's own: of a roll
			}
			defer inside.Store(false)
			removed++
			synced := make(chan error, 1)
			go func() {
				_, err := l.AppendSync(ctx, rec(value(22)))
				synced <- err
			}()
			select {
			case err := <-synced:
				assert.NoError(t, err)
			case <-time.After(10 * time.Second):
				t.Errorf("a sync waits for %s", call.Name)
			}
		}
		require.NoError(t, l.DropBefore(12))
		c.add(time.Minute)
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		require.GreaterOrEqual(t, removed, 6)
		faulty.Trace = nil
	}
}

// TestAppendsDoNotWaitForCompaction: at no call to the file system that a
// compaction makes does an append have to wait for it.
func TestAppendsDoNotWaitForCompaction(t *testing.T) {
	l, faulty, _ := inMem(t, compactedLog())
	for range 6 {
		put(t, l, keyed("a", "1"), keyed("b", ""))
		roll(t, l)
	}
	var inside atomic.Bool
	calls := 0
	faulty.Trace = func(c vfs.Call) {
		if !inside.CompareAndSwap(false, true) {
			return // the append's own
		}
		defer inside.Store(false)
		calls++
		appended := make(chan error, 1)
		go func() {
			_, err := l.Append(keyed("c", "1"))
			appended <- err
		}()
		select {
		case err := <-appended:
			assert.NoError(t, err)
		case <-time.After(10 * time.Second):
			t.Errorf("an append waits for %s %s", c.Op, c.Name)
		}
	}
	r := compacted(t, l)
	faulty.Trace = nil
	require.Positive(t, r.Replaced)
	require.Greater(t, calls, 50)
}
