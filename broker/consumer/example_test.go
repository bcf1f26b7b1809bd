package consumer_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/consumer"
	"github.com/seglog/seglog/record"
)

// A consumer of a group reads three records, commits behind the second one, and
// ends. The next one goes on there.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "consumer-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	b, err := broker.Open(dir, broker.Options{Config: map[string]string{"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	if err := orders(ctx, b); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0 first
	// 1 second
	// 2 third
}

func orders(ctx context.Context, b *broker.Broker) error {
	if _, err := b.CreateTopic(ctx, broker.TopicSpec{Name: "orders"}); err != nil {
		return err
	}
	_, err := b.Produce(ctx, "orders", 0, record.Record{Value: []byte("first")}, record.Record{Value: []byte("second")}, record.Record{Value: []byte("third")})
	if err != nil {
		return err
	}
	for _, until := range []int64{2, 3} {
		c, err := consumer.New(b, "billing", consumer.Options{Reset: consumer.Earliest, AutoCommit: consumer.NoAutoCommit})
		if err != nil {
			return err
		}
		if err := c.Subscribe("orders"); err != nil {
			return err
		}
		for r, err := range c.Records(ctx) {
			if err != nil {
				return err
			}
			fmt.Printf("%d %s\n", r.Offset, r.Value)
			if r.Offset+1 == until {
				break
			}
		}
		if err := c.CommitSync(ctx, nil); err != nil { // the positions: behind what the loop has got
			return err
		}
		if err := c.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}
