package broker

import (
	"sync"
	"sync/atomic"
)

// watchers are those who wait for any of some partitions to move. While nobody
// does it costs the one who moves it an atomic load.
//
// No wake-up is lost: a watcher is counted before it looks, and who moves does so
// before it looks whether there are any.
type watchers struct {
	n  atomic.Int32
	mu struct {
		sync.Mutex
		all map[*watcher]struct{}
	}
}

// watcher waits. It may watch any number of partitions.
type watcher struct{ woken chan struct{} }

func newWatcher() *watcher { return &watcher{make(chan struct{}, 1)} }

func (w *watchers) add(one *watcher) {
	w.n.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.all == nil {
		w.mu.all = make(map[*watcher]struct{})
	}
	w.mu.all[one] = struct{}{}
}

func (w *watchers) remove(one *watcher) {
	w.mu.Lock()
	delete(w.mu.all, one)
	w.mu.Unlock()
	w.n.Add(-1)
}

func (w *watchers) wake() {
	if w.n.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.mu.all {
		select {
		case one.woken <- struct{}{}:
		default: // it is awake already
		}
	}
}
