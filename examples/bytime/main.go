// Command bytime reads from a moment on: OffsetAt finds the first record as
// late as that.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bytime-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := log.Open(ctx, dir, log.Options{})
	if err != nil {
		return err
	}
	defer l.Close()

	// A day of measurements, one a minute, with their own times.
	midnight := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for minute := range 24 * 60 {
		at := midnight.Add(time.Duration(minute) * time.Minute)
		if _, err := l.Append(record.Record{Time: at, Value: fmt.Appendf(nil, "%d degrees", 5+minute/120)}); err != nil {
			return err
		}
	}

	noon := midnight.Add(12 * time.Hour)
	from, err := l.OffsetAt(noon)
	if err != nil {
		return err
	}
	for rec, err := range l.From(from) {
		if err != nil {
			return err
		}
		if rec.Time.After(noon.Add(3 * time.Minute)) {
			break
		}
		fmt.Println(rec.Offset, rec.Time.Format(time.TimeOnly), string(rec.Value))
	}
	// Nothing is as late as the next day: then it is the end, where the next comes.
	from, err = l.OffsetAt(midnight.Add(48 * time.Hour))
	fmt.Println("two days on:", from, "which is the end:", from == l.End())
	return err
}
