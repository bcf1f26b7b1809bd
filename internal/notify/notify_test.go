package notify

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func past(end *atomic.Int64, at int64) func() bool {
	return func() bool { return end.Load() > at }
}

// TestNoWakeUpIsLost moves a watermark one step at a time, each step only once
// a waiter saw the one before: a lost wake-up is a hang. The pauses are random,
// so that the change falls before, into and after the waiter's two looks.
func TestNoWakeUpIsLost(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const steps = 20_000
	var n, back Notifier
	var end, seen atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for at := range int64(steps) {
			if err := n.Wait(ctx, past(&end, at)); err != nil {
				t.Errorf("waiting for step %d: %v", at, err)
				return
			}
			spin(rand.IntN(100))
			seen.Store(at + 1)
			back.Notify()
		}
	})
	for at := range int64(steps) {
		spin(rand.IntN(100))
		end.Store(at + 1)
		n.Notify()
		if err := back.Wait(ctx, past(&seen, at)); err != nil {
			t.Fatalf("step %d was never seen: %v", at, err)
		}
	}
	wg.Wait()
}

func TestManyWaiters(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const last = 2000
	var n Notifier
	var end atomic.Int64
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			for at := int64(0); at < last; at += 1 + r.Int64N(50) {
				if err := n.Wait(ctx, past(&end, at)); err != nil || end.Load() <= at {
					t.Errorf("waiter %d at %d of %d: %v", i, at, end.Load(), err)
					return
				}
			}
		})
	}
	for end.Load() < last+50 {
		end.Add(1)
		n.Notify()
	}
	wg.Wait()
	if w := n.waiting.Load(); w != 0 {
		t.Errorf("%d waiters are still counted", w)
	}
}

func TestWaitEnds(t *testing.T) {
	never := func() bool { return false }
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		act  func(n *Notifier, cancel func())
		want error
	}{
		"cancel": {func(_ *Notifier, cancel func()) { cancel() }, context.Canceled},
		"close":  {func(n *Notifier, _ func()) { n.Close(gone) }, gone},
		"close twice": {func(n *Notifier, _ func()) {
			n.Close(gone)
			n.Close(errors.New("too late"))
		}, gone},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n Notifier
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var got [3]error
				var wg sync.WaitGroup
				for i := range got {
					wg.Go(func() { got[i] = n.Wait(ctx, never) })
				}
				synctest.Wait() // all are asleep
				n.Notify()
				synctest.Wait() // and asleep again
				c.act(&n, cancel)
				wg.Wait()
				for _, err := range append(got[:], n.Wait(ctx, never)) {
					if err != c.want {
						t.Errorf("err = %v, want %v", err, c.want)
					}
				}
			})
		})
	}
}

func TestWhatWins(t *testing.T) {
	always := func() bool { return true }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var n Notifier
	if err := n.Wait(ctx, always); err != nil {
		t.Errorf("a condition that holds, in a done ctx: %v", err)
	}
	gone := errors.New("gone")
	n.Close(gone)
	if err := n.Wait(ctx, always); err != gone {
		t.Errorf("a condition that holds, closed: %v", err)
	}
}

func TestIdleAllocatesNothing(t *testing.T) {
	var n Notifier
	var end atomic.Int64
	end.Store(1)
	if allocs := testing.AllocsPerRun(100, func() {
		n.Notify()
		if err := n.Wait(t.Context(), func() bool { return end.Load() > 0 }); err != nil {
			t.Error(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkNotifyIdle(b *testing.B) {
	var n Notifier
	b.ReportAllocs()
	for b.Loop() {
		n.Notify()
	}
}

// spin passes a little time without giving up the processor.
func spin(n int) {
	for i := range n {
		spun.Store(int64(i))
	}
}

var spun atomic.Int64
