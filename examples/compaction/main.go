// Command compaction keeps the newest value of each key: a log of settings, of
// which only the last of each name counts, stays small however long it is
// written to, and tells a reader all of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "compaction-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	l, err := log.Open(ctx, dir, log.Options{
		SegmentBytes: 64 << 10,           // the newest segment is never compacted
		Compaction:   &compact.Options{}, // Kafka's defaults: when half of it is dirty
	})
	if err != nil {
		return err
	}
	defer l.Close()

	upkeep, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- l.Maintain(upkeep, log.Every{Sync: time.Second, Compact: 20 * time.Millisecond}) }()

	const names = 100
	for i := range 50_000 {
		r := record.Record{Key: fmt.Appendf(nil, "setting-%d", i%names), Value: fmt.Appendf(nil, "value %d", i)}
		if _, err := l.Append(r); err != nil {
			stop()
			return errors.Join(err, <-done)
		}
	}
	_, err = l.Append(record.Record{Value: []byte("no key")})
	fmt.Println("without a key:", err)
	stop()
	if err := <-done; err != nil {
		return err
	}
	result, err := l.Compact(ctx) // now, whatever Maintain thinks
	if err != nil {
		return err
	}
	newest, read := map[string]string{}, 0
	for r, err := range l.From(l.First()) {
		if err != nil {
			return err
		}
		newest[string(r.Key)], read = string(r.Value), read+1
	}
	fmt.Printf("%d records appended, fewer than %d left: %t; %s\n", l.End(), l.End()/10, read < int(l.End()/10), result)
	fmt.Printf("%d settings, the newest: %s\n", len(newest), newest["setting-99"])
	return nil
}
