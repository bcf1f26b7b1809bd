package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is why a context ended: a signal asked for it.
type interrupted struct{ sig syscall.Signal }

func (e interrupted) Error() string { return fmt.Sprintf("stopped by %v", e.sig) }

// code is what a shell reports of a process that the signal ended.
func (e interrupted) code() int { return 128 + int(e.sig) }

// interruptible is a context that SIGINT and SIGTERM end, once: a second one
// ends the process as if nobody listened, so that nothing can hang for good.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(interrupted{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
