// Webhook delivers events to an HTTP endpoint that fails now and then: each is
// tried again, later and later, and set aside if nothing helps.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/seglog/seglog/queue"
)

func main() {
	dir, err := os.MkdirTemp("", "webhook-")
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
	// The endpoint fails at some events' first try, and always at event 4. Failing at
	// every third call would now and then be the same event's five times.
	tries := make(map[string]int)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event := r.Header.Get("Event")
		if tries[event]++; event == "4" || tries[event] == 1 && event < "3" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer endpoint.Close()

	q, err := queue.Open(ctx, dir, queue.Options{Durability: queue.Durable, MaxDeliveries: 5})
	if err != nil {
		return err
	}
	defer q.Close()
	for i := range 10 {
		if _, err := q.Push(ctx, queue.Message{Value: fmt.Append(nil, i)}); err != nil {
			return err // not accepted, and not lost silently
		}
	}
	done, retries := 0, 0
	for done < 9 {
		m, err := q.Next(ctx, "sender")
		if err != nil {
			return err
		}
		settle := m.Ack
		if err := send(ctx, endpoint.URL, m.Value); err == nil {
			done++
		} else {
			retries++
			settle = func() error { return m.Nack(time.Millisecond << m.Deliveries) } // 2, 4, 8 ms...
		}
		if err := settle(); err != nil {
			return err
		}
	}
	dead, err := q.DeadLetters(ctx)
	if err != nil {
		return err
	}
	for {
		if m, ok, err := dead.TryNext("operator"); err != nil {
			return err
		} else if ok {
			fmt.Printf("9 events delivered after %t retries, event %s given up\n", retries > 0, m.Value)
			return m.Ack()
		}
		if m, ok, err := q.TryNext("sender"); err != nil {
			return err
		} else if ok { // the last tries of event 4
			if err := m.Nack(0); err != nil {
				return err
			}
		}
	}
}

func send(ctx context.Context, url string, event []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(event))
	if err != nil {
		return err
	}
	req.Header.Set("Event", string(event))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the endpoint says %s", resp.Status)
	}
	return nil
}
