// Jobs are taken by workers from three queues, the urgent ones first.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seglog/seglog/queue"
)

func main() {
	dir, err := os.MkdirTemp("", "jobs-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	names := []string{"urgent", "normal", "idle"} // by priority
	queues := make([]*queue.Queue, len(names))
	total := 0
	for i, name := range names {
		q, err := queue.Open(ctx, filepath.Join(dir, name), queue.Options{})
		if err != nil {
			return err
		}
		defer q.Close()
		queues[i] = q
		for n := range 3 {
			if _, err := q.Push(ctx, queue.Message{Value: fmt.Appendf(nil, "%s %d", name, n)}); err != nil {
				return err
			}
			total++
		}
	}
	var mu sync.Mutex
	var done []string
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for {
				mu.Lock() // so that what is printed is in order; workers need no lock
				m, _, err := queue.NextOf(ctx, "worker", queues...)
				if err == nil {
					err = m.Ack() // after the work, which is to be safe to do twice
				}
				if err == nil {
					done = append(done, string(m.Value))
				}
				if len(done) == total {
					cancel()
				}
				mu.Unlock()
				if err != nil {
					return // the end of ctx
				}
			}
		})
	}
	workers.Wait()
	fmt.Println(strings.Join(done, ", "))
	return nil
}
