// Command borrow sends records over a socket from the log's own mapped memory:
// the batches are checked and sent as they are, no record of them is copied or
// decoded. The bytes are Kafka's record batches, which any client reads.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func main() {
	dir, err := os.MkdirTemp("", "borrow-")
	if err == nil {
		err = errors.Join(run(context.Background(), dir), os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	l, err := log.Open(ctx, dir, log.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	for n := range 1000 {
		if _, err := l.Append(record.Record{Value: fmt.Appendf(nil, "record %d", n)}); err != nil {
			return err
		}
	}
	server, client := net.Pipe()
	sent := make(chan error, 1)
	go func() { sent <- send(server, l, 990) }()
	raw, err := io.ReadAll(client)
	for len(raw) > 0 && err == nil {
		var batch record.Batch
		if batch, err = record.Parse(raw); err == nil {
			fmt.Printf("offset %d: a batch of %d bytes\n", batch.BaseOffset, batch.Size)
			raw = raw[batch.Size:]
		}
	}
	return errors.Join(err, <-sent)
}

// send writes everything from offset on. A View's bytes are the log's until
// Release; the conn must not keep them.
func send(conn net.Conn, l *log.Log, offset int64) error {
	defer conn.Close()
	for {
		view, err := l.Borrow(offset, 256<<10)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = view.WriteTo(conn)
		offset = view.Next()
		view.Release()
		if err != nil {
			return err
		}
	}
}
