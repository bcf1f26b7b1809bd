// Command retention keeps a log from growing for ever: a policy says what may
// go, and Maintain, in a goroutine of the program's own, lets it go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "retention-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	l, err := log.Open(ctx, dir, log.Options{
		SegmentBytes: 256 << 10, // what is dropped is whole segments
		Retention: retention.Any(
			retention.MaxBytes(1<<20),
			retention.MaxAge(7*24*time.Hour)),
		Trace: log.Trace{Dropped: func(e log.DropEvent) {
			fmt.Printf("dropped %d segments by %s\n", len(e.Segments), e.Reason)
		}},
	})
	if err != nil {
		return err
	}
	defer l.Close()

	upkeep, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- l.Maintain(upkeep, log.Every{Sync: time.Second, Retain: 50 * time.Millisecond}) }()

	value := make([]byte, 1<<10)
	for range 8 << 10 { // 8 MiB in all
		if _, err := l.Append(record.Record{Value: value}); err != nil {
			stop()
			return errors.Join(err, <-done)
		}
	}
	time.Sleep(200 * time.Millisecond)
	stop()
	s := l.Stats()
	fmt.Printf("%d records appended, [%d, %d) are left: %d segments, %d KiB\n", s.End, s.First, s.End, s.Segments, s.Bytes>>10)
	return <-done
}
