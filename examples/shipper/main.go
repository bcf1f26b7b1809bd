// Shipper takes log lines at any speed and ships them in batches over a network
// that goes away: what it cannot ship waits on disk, bounded.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/seglog/seglog/queue"
)

func main() {
	dir, err := os.MkdirTemp("", "shipper-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const lines = 20_000

func run(ctx context.Context, dir string) error {
	q, err := queue.Open(ctx, dir, queue.Options{MaxBytes: 64 << 20, Full: queue.DropOldest})
	if err != nil {
		return err
	}
	defer q.Close()
	for i := range lines { // the network is away
		if _, err := q.Push(ctx, queue.Message{Value: fmt.Appendf(nil, "line %d\n", i)}); err != nil {
			return err
		}
	}
	depth, err := q.Depth("shipper")
	if err != nil {
		return err
	}
	fmt.Printf("%d lines wait on disk\n", depth)

	network, err := net.Listen("tcp", "127.0.0.1:0") // it is back
	if err != nil {
		return err
	}
	arrived := make(chan int)
	go func() {
		conn, err := network.Accept()
		if err != nil {
			arrived <- 0
			return
		}
		all, _ := io.ReadAll(conn)
		arrived <- bytes.Count(all, []byte("\n"))
	}()
	if err := ship(ctx, q, network.Addr().String()); err != nil {
		return err
	}
	stats, err := q.Stats("shipper")
	if err != nil {
		return err
	}
	fmt.Printf("%d lines arrived, %d wait, %d dropped\n", <-arrived, stats.Depth, stats.Dropped)
	return network.Close()
}

// ship sends what there is, a batch at a time, each acknowledged once it is out.
func ship(ctx context.Context, q *queue.Queue, to string) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", to)
	if err != nil {
		return err // to be tried again: the lines are still there
	}
	for {
		var batch []queue.Message
		var out bytes.Buffer
		for len(batch) < 500 {
			m, ok, err := q.TryNext("shipper")
			if err != nil {
				return errors.Join(err, conn.Close())
			}
			if !ok {
				break
			}
			batch = append(batch, m)
			out.Write(m.Value)
		}
		if len(batch) == 0 {
			return conn.Close()
		}
		if _, err := conn.Write(out.Bytes()); err != nil {
			return errors.Join(err, conn.Close())
		}
		if err := queue.AckAll(batch...); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
}
