package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// startRow measures the time from the start of the broker's process to its first
// acknowledgement, on a directory that was closed well.
func startRow() row {
	topics := make(map[*node]string)
	return row{name: "start/first-record",
		prepare: func(ctx context.Context, n *node, _ amounts) (err error) {
			topics[n], err = n.create(ctx, 100)
			return err
		},
		measure: func(ctx context.Context, n *node, _ amounts) (figures, error) {
			if err := n.Stop(); err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			b, err := single()
			if err != nil {
				return nil, err
			}
			if err := n.launch(ctx); err != nil {
				return nil, err
			}
			err = await(ctx, 2*time.Millisecond, func() error { return n.acknowledges(ctx, topics[n], b) })
			if err != nil {
				return nil, err
			}
			age, err := n.age()
			return figures{startSeconds: age.Seconds()}, err
		},
		cleanup: func(ctx context.Context, n *node) error { return n.delete(ctx, topics[n]) },
	}
}

// acknowledges produces one record.
func (n *node) acknowledges(ctx context.Context, topic string, b batch) error {
	w, err := dial(ctx, n)
	if err != nil {
		return err
	}
	defer w.close()
	resp, err := w.ask(produceRequest(topic, -1, b, 0), produceVersion)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode)
}

// memoryRow tells of the resident memory of no file, after a load: what is mapped
// is the page cache, which the kernel takes back as it likes.
func memoryRow() row {
	of := load{size: 100, partitions: 100}
	return row{name: fmt.Sprintf("memory/after/produce/%s", of), once: true,
		measure: func(ctx context.Context, n *node, how amounts) (figures, error) {
			for range 2 {
				if _, err := produceRow(of, -1).measure(ctx, n, how); err != nil {
					return nil, err
				}
			}
			bytes, err := n.anonymous()
			return figures{anonMB: bytes / 1e6}, err
		}}
}
