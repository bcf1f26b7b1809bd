// Producer sends records one by one, which arrive in batches, once and in order.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/producer"
	"github.com/seglog/seglog/producer/logsink"
)

func main() {
	dir, err := os.MkdirTemp("", "producer-")
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
	var partitions []*log.Log
	for _, name := range []string{"orders-0", "orders-1", "orders-2"} {
		l, err := log.Open(ctx, filepath.Join(dir, name), log.Options{})
		if err != nil {
			return err
		}
		defer l.Close()
		partitions = append(partitions, l)
	}
	// kafkasink.New(kgo.SeedBrokers("localhost:9092")) would send to Kafka.
	sink := logsink.New(func(topic string) ([]*log.Log, error) { return partitions, nil })
	p, err := producer.New(sink, producer.Options{})
	if err != nil {
		return err
	}
	orders := producer.For(p, "orders", producer.String, producer.String)
	for i := range 9 {
		orders.Send(ctx, fmt.Sprintf("customer-%d", i%3), fmt.Sprintf("order %d", i))
	}
	d, err := orders.SendSync(ctx, "customer-1", "the last one") // durable when this returns
	if err != nil {
		return err
	}
	fmt.Printf("the last one is at offset %d of partition %d\n", d.Offset, d.Partition)
	if err := p.Close(ctx); err != nil { // waits for what is on its way
		return err
	}
	for n, l := range partitions {
		for rec, err := range l.From(0) {
			if err != nil {
				return err
			}
			fmt.Printf("%d:%d %s: %s\n", n, rec.Offset, rec.Key, rec.Value)
		}
	}
	return nil
}
