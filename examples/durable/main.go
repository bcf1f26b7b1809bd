// Command durable appends from many goroutines, each of which waits until its
// records survive a loss of power. They share syncs: the more wait, the more
// come along with one.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func main() {
	for _, writers := range []int{1, 16, 64} {
		if err := run(context.Background(), writers); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func run(ctx context.Context, writers int) error {
	dir, err := os.MkdirTemp("", "durable-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	var syncs atomic.Int64
	trace := log.Trace{Synced: func(log.SyncEvent) { syncs.Add(1) }}
	l, err := log.Open(ctx, dir, log.Options{Trace: trace})
	if err != nil {
		return err
	}
	defer l.Close()

	const each = 200
	began := time.Now()
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range each {
				_, err := l.AppendSync(ctx, record.Record{Value: []byte("acknowledged when it is on disk")})
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	fmt.Printf("%2d writers: %d durable appends by %d syncs, %.0f a second; durable up to %d of %d\n",
		writers, writers*each, syncs.Load(), float64(writers*each)/took.Seconds(), l.Durable(), l.End())
	return errors.Join(errs...)
}
