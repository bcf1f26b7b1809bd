package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// flushAfter is how long a record waits in the buffer while none follows.
const flushAfter = 20 * time.Millisecond

// follow prints records as they come, until ctx ends.
func (p *printer) follow(ctx context.Context, l readable, dir string, from int64, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	out := &idleOutput{output: newOutput(w)}
	p.out = out
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		out.flushEvery(ctx, flushAfter, cancel)
	}()
	err := p.print(l.Tail(ctx, from))
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	cancel(nil)
	<-flushed
	if errors.As(err, new(interrupted)) {
		err = nil // a signal is how following ends
	}
	return errors.Join(err, out.flush(), p.damageError(dir))
}

// idleOutput is an output that another goroutine flushes now and then: the one
// that writes to it cannot know when it will be waiting for more.
type idleOutput struct {
	mu sync.Mutex // from buffer to wrote, and while flushing
	*output
}

func (o *idleOutput) buffer() []byte {
	o.mu.Lock()
	return o.output.buffer()
}

func (o *idleOutput) wrote(buf []byte) error {
	defer o.mu.Unlock()
	return o.output.wrote(buf)
}

func (o *idleOutput) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.output.flush()
}

// flushEvery flushes until ctx ends, which it makes do so when nobody reads.
func (o *idleOutput) flushEvery(ctx context.Context, every time.Duration, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := o.flush(); err != nil {
				cancel(err)
				return
			}
		}
	}
}
