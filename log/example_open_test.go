package log_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// openExample opens a log in a directory that is removed again by the func.
func openExample(o log.Options) (*log.Log, func()) {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	l, err := log.Open(context.Background(), dir, o)
	if err != nil {
		panic(err)
	}
	return l, func() {
		_ = l.Close() // it may have been closed
		_ = os.RemoveAll(dir)
	}
}

// appendExample appends each value as a batch of its own.
func appendExample(l *log.Log, values ...string) {
	for _, v := range values {
		if _, err := l.Append(record.Record{Value: []byte(v)}); err != nil {
			fmt.Println(err)
		}
	}
}
