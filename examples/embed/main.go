// Command embed opens a log, appends to it and reads it back.
package main

import (
	"context"
	"fmt"
	"os"

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
	dir, err := os.MkdirTemp("", "embed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	l, err := log.Open(ctx, dir, log.Options{})
	if err != nil {
		return err
	}
	defer l.Close()

	// One call is one batch: after a crash all of it is there or nothing.
	first, err := l.Append(
		record.Record{Key: []byte("Oslo"), Value: []byte("rain")},
		record.Record{Key: []byte("Lima"), Value: []byte("fog"), Headers: []record.Header{{Key: "unit", Value: []byte("none")}}},
		record.Record{Key: []byte("Oslo")}, // a nil Value is null: a deletion, to compaction
	)
	if err != nil {
		return err
	}
	for rec, err := range l.From(first) {
		if err != nil {
			return err
		}
		fmt.Printf("offset %d: %s = %q, null: %t\n", rec.Offset, rec.Key, rec.Value, rec.Value == nil)
	}

	rec, err := l.Read(1)
	if err != nil {
		return err
	}
	fmt.Printf("offset 1 alone: %s = %s, %s = %s\n", rec.Key, rec.Value, rec.Headers[0].Key, rec.Headers[0].Value)
	return nil
}
