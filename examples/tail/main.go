// Command tail follows a log that is being appended to, for two seconds or as
// long as its argument says.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func main() {
	long := 2 * time.Second
	var err error
	if len(os.Args) > 1 {
		long, err = time.ParseDuration(os.Args[1])
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), long)
		defer cancel()
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "tail-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := log.Open(ctx, dir, log.Options{})
	if err != nil {
		return err
	}
	defer l.Close()

	appended := make(chan error, 1)
	go func() {
		for n := 1; ctx.Err() == nil; n++ {
			if _, err := l.Append(record.Record{Value: fmt.Appendf(nil, "event %d", n)}); err != nil {
				appended <- err
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		appended <- nil
	}()
	for rec, err := range l.Tail(ctx, l.First()) {
		if errors.Is(err, context.DeadlineExceeded) {
			break // the end of the context is how a Tail ends
		}
		if err != nil {
			return err
		}
		fmt.Printf("%s, read %v after it was appended\n", rec.Value, time.Since(rec.Time).Round(time.Millisecond))
	}
	return <-appended
}
