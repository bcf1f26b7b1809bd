// Package notify wakes those who wait for something to change: a watermark to
// pass an offset, say. It costs the changing side one atomic load while nobody
// waits, and it holds no goroutine, no timer and no copy of what is waited for.
package notify

import (
	"context"
	"sync"
	"sync/atomic"
)

// Notifier is a meeting point of waiters and the one who changes what they
// wait for. Its zero value works; it must not be copied. All methods may be
// called concurrently.
//
// No wake-up is lost: a waiter counts itself before it looks, a notifier
// changes before it counts, and atomics have one order. So either the notifier
// sees the waiter, or the waiter sees the change.
type Notifier struct {
	waiting atomic.Int64          // waiters between their first look and their return
	closed  atomic.Pointer[error] // set once, by Close

	mu struct {
		sync.Mutex
		wake chan struct{} // closed by the next Notify; nil until someone sleeps on it
	}
}

// Wait returns nil once ready reports true, the error given to Close once that
// was called, or ctx.Err(). A closed Notifier answers its error even to those
// whose condition holds; a condition that holds wins over a done ctx.
//
// ready must be cheap, safe to call at any time and true only after a change
// made before a Notify: typically one atomic load and a comparison.
func (n *Notifier) Wait(ctx context.Context, ready func() bool) error {
	if done, err := n.look(ready); done {
		return err
	}
	n.waiting.Add(1)
	defer n.waiting.Add(-1)
	for {
		wake := n.next() // before the look, so that a change after it closes this one
		if done, err := n.look(ready); done {
			return err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Notify makes every waiter look again. Call it after the change is visible.
func (n *Notifier) Notify() {
	if n.waiting.Load() == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.wake != nil {
		close(n.mu.wake)
		n.mu.wake = nil
	}
}

// Close makes all waits return err, those to come included. Only the first
// call counts. A nil err is a programming error.
func (n *Notifier) Close(err error) {
	if err == nil {
		panic("notify: Close without an error")
	}
	n.closed.CompareAndSwap(nil, &err)
	n.Notify()
}

func (n *Notifier) look(ready func() bool) (done bool, err error) {
	if p := n.closed.Load(); p != nil {
		return true, *p
	}
	return ready(), nil
}

// next is the channel that the next Notify closes.
func (n *Notifier) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mu.wake == nil {
		n.mu.wake = make(chan struct{})
	}
	return n.mu.wake
}
