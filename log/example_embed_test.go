package log_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// weather opens a log in dir, appends to it and reads it back.
func weather(ctx context.Context, dir string) error {
	l, err := log.Open(ctx, dir, log.Options{}) // the zero Options work
	if err != nil {
		return err
	}
	defer l.Close()
	reports := []record.Record{{Key: []byte("Oslo"), Value: []byte("rain")}, {Key: []byte("Lima"), Value: []byte("fog")}}
	first, err := l.AppendSync(ctx, reports...) // one atomic batch, on disk when this returns
	if err != nil {
		return err
	}
	for rec, err := range l.From(first) { // Tail waits for more
		if err != nil {
			return err
		}
		fmt.Printf("%d %s: %s\n", rec.Offset, rec.Key, rec.Value)
	}
	recent, err := l.OffsetAt(time.Now().Add(-time.Minute))
	fmt.Println("the last minute begins at offset", recent)
	return err
}

// Open, append, read, and find the place of a time.
func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := weather(context.Background(), dir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0 Oslo: rain
	// 1 Lima: fog
	// the last minute begins at offset 0
}
