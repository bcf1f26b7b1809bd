// Consumer shares the partitions of a topic among the members of a group, in the
// process of the broker. Clients of the network could be members as well.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/consumer"
	"github.com/seglog/seglog/record"
)

func main() {
	dir, err := os.MkdirTemp("", "consumer-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const orders = 1000

func run(ctx context.Context, dir string) error {
	// kafka.Serve(ctx, listener, b) would have clients of the network take part.
	b, err := broker.Open(dir, broker.Options{Config: map[string]string{"group.initial.rebalance.delay.ms": "100"}})
	if err != nil {
		return err
	}
	defer b.Close()
	if _, err := b.CreateTopic(ctx, broker.TopicSpec{Name: "orders", Partitions: 4}); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	var members, ready sync.WaitGroup
	var billed atomic.Int64
	failures := make([]error, 2)
	for n := range failures {
		ready.Add(1)
		members.Go(func() { failures[n] = bill(ctx, b, n, &billed, sync.OnceFunc(ready.Done), done) })
	}
	ready.Wait() // so that there is something left for each
	for i := range orders {
		if _, err := b.Produce(ctx, "orders", int32(i%4), record.Record{Value: fmt.Appendf(nil, "order %d", i)}); err != nil {
			return err
		}
	}
	members.Wait()
	fmt.Println(billed.Load(), "orders billed")
	return errors.Join(failures...)
}

// bill is one member of the group, which says when it is ready, and when all is
// done.
func bill(ctx context.Context, b *broker.Broker, n int, billed *atomic.Int64, ready, done func()) error {
	defer ready()
	c, err := consumer.New(b, "billing", consumer.Options{Reset: consumer.Earliest, Listener: consumer.Listener{
		Assigned: func(_ context.Context, partitions []consumer.TopicPartition) {
			fmt.Printf("member %d has got %d partitions\n", n, len(partitions))
			ready()
		}}})
	if err != nil {
		return err
	}
	if err := c.Subscribe("orders"); err != nil {
		return err
	}
	for _, err := range c.Records(ctx) {
		if err != nil && ctx.Err() == nil {
			return errors.Join(err, c.Close(context.Background()))
		}
		if err == nil && billed.Add(1) == orders {
			done()
		}
	}
	return c.Close(context.Background()) // commits, and leaves the group
}
