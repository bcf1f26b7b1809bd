package producer

import (
	"context"
	"runtime"
	"strings"
	"sync"
)

// callbacks runs what users want run when records are done, on one goroutine,
// in the order in which batches were. It is not the sender's: a slow callback
// holds up other callbacks only.
type callbacks struct {
	mu struct {
		sync.Mutex
		ready  []watched
		closed bool
	}
	wake  chan struct{}
	ended chan struct{}
}

func newCallbacks() *callbacks {
	return &callbacks{wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (c *callbacks) add(list ...watched) {
	c.mu.Lock()
	c.mu.ready = append(c.mu.ready, list...)
	c.mu.Unlock()
	c.nudge()
}

func (c *callbacks) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run ends when close was called and nothing is left.
func (c *callbacks) run() {
	defer close(c.ended)
	for range c.wake {
		for {
			c.mu.Lock()
			list, closed := c.mu.ready, c.mu.closed
			c.mu.ready = nil
			c.mu.Unlock()
			if len(list) == 0 && closed {
				return
			}
			if len(list) == 0 {
				break
			}
			for _, w := range list {
				w.told(w.f.Result())
			}
		}
	}
}

// close has run end after what there is.
func (c *callbacks) close() {
	c.mu.Lock()
	c.mu.closed = true
	c.mu.Unlock()
	c.nudge()
}

// passed waits until all that was added before has run.
func (c *callbacks) passed(ctx context.Context) error {
	ran := make(chan struct{})
	c.add(watched{f: nothing, told: func(Delivery, error) { close(ran) }})
	select {
	case <-ran:
		return nil
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var nothing = &Future{refused: new(refusal)}

// inCallback says whether the caller was called by a callback, of any
// producer: it must not wait for callbacks then.
func inCallback() bool {
	pcs := make([]uintptr, 64)
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs)
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.HasSuffix(f.Function, "/producer.(*callbacks).run") {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
