package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"
)

// What a consumer asks for, as Kafka's by default.
const (
	fetchMaxBytes     = 50 << 20
	partitionMaxBytes = 1 << 20
	fetchWaitMillis   = 500
)

func consumeRow(of load, cold bool) row {
	topics, warming := make(map[*node]string), make(map[*node]string)
	var b batch
	how := "warm"
	if cold {
		how = "cold"
	}
	filled := func(ctx context.Context, n *node, a amounts) (string, error) {
		topic, err := n.create(ctx, of.partitions)
		if err == nil {
			_, err = n.produce(ctx, topic, of, 1, b, a)
		}
		return topic, err
	}
	return row{name: fmt.Sprintf("consume/%s/%s", of, how),
		prepare: func(ctx context.Context, n *node, a amounts) (err error) {
			if b, err = of.batch(); err != nil {
				return err
			}
			if topics[n], err = filled(ctx, n, a); err == nil && cold {
				warming[n], err = filled(ctx, n, a)
			}
			return err
		},
		measure: func(ctx context.Context, n *node, a amounts) (figures, error) {
			if cold {
				if err := n.restartCold(ctx); err != nil {
					return nil, err
				}
				// The program is to be warm, what it reads is not.
				if _, err := n.consume(ctx, warming[n], of, b); err != nil {
					return nil, err
				}
			}
			return n.consume(ctx, topics[n], of, b)
		},
		cleanup: func(ctx context.Context, n *node) error {
			if err := n.delete(ctx, topics[n]); err != nil || !cold {
				return err
			}
			return n.delete(ctx, warming[n])
		}}
}

// consume reads a topic that has copies of one batch from its beginning to its
// end.
func (n *node) consume(ctx context.Context, topic string, of load, b batch) (figures, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*patience)
	defer cancel()
	connections := of.connections()
	var consumers []*consumer
	for i := range connections {
		w, err := dial(ctx, n)
		if err != nil {
			return nil, err
		}
		defer w.close()
		c := &consumer{w: w, topic: topic, b: b, next: make(map[int32]int64)}
		for number := i; number < of.partitions; number += connections {
			c.next[number] = 0
		}
		consumers = append(consumers, c)
	}
	if err := consumers[0].w.ready(ctx, topic, of.partitions); err != nil {
		return nil, err
	}
	left, err := consumers[0].w.ends(topic, of.partitions)
	if err != nil {
		return nil, err
	}
	for _, c := range consumers {
		if c.left, err = c.share(of.partitions); err != nil {
			return nil, err
		}
	}
	m, err := n.begin()
	if err != nil {
		return nil, err
	}
	all := new(errgroup.Group)
	for _, c := range consumers {
		all.Go(c.run)
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return m.end(left * int64(of.size))
}

// consumer reads its partitions over one connection, in a fetch session
// (KIP-227): it says only what changes.
type consumer struct {
	w     *wire
	topic string
	b     batch
	next  map[int32]int64 // offsets
	left  int64           // records
}

// share is how many records there are in its partitions.
func (c *consumer) share(partitions int32) (sum int64, err error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = c.topic
	for number := range partitions {
		if _, own := c.next[number]; own {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp, p.CurrentLeaderEpoch = number, -1, -1
			t.Partitions = append(t.Partitions, p)
		}
	}
	req.Topics = append(req.Topics, t)
	resp, err := c.w.ask(req, listOffsetsVersion)
	if err != nil {
		return 0, err
	}
	for _, p := range resp.(*kmsg.ListOffsetsResponse).Topics[0].Partitions {
		sum += p.Offset
	}
	return sum, nil
}

func (c *consumer) run() error {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = -1, fetchWaitMillis, 1, fetchMaxBytes
	changed := c.next
	for c.left > 0 {
		t := kmsg.NewFetchRequestTopic()
		t.Topic = c.topic
		for number, offset := range changed {
			t.Partitions = append(t.Partitions, fetchPart(number, offset))
		}
		req.Topics = []kmsg.FetchRequestTopic{t}
		resp, err := c.w.ask(req, fetchVersion)
		if err != nil {
			return err
		}
		if changed, err = c.take(resp.(*kmsg.FetchResponse)); err != nil {
			return err
		}
		req.SessionID = resp.(*kmsg.FetchResponse).SessionID
		req.SessionEpoch++
	}
	return nil
}

func fetchPart(number int32, offset int64) kmsg.FetchRequestTopicPartition {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = number, offset, partitionMaxBytes
	p.CurrentLeaderEpoch, p.LastFetchedEpoch, p.LogStartOffset = -1, -1, -1
	return p
}

// take notes what came, by its length, and returns the offsets that are new by
// it.
func (c *consumer) take(resp *kmsg.FetchResponse) (map[int32]int64, error) {
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	changed := make(map[int32]int64)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("partition %d: %w", p.Partition, err)
			}
			// A batch that is cut short at the end comes again.
			if records := int64(len(p.RecordBatches)/len(c.b.raw)) * c.b.records; records > 0 {
				c.next[p.Partition] += records
				c.left -= records
				changed[p.Partition] = c.next[p.Partition]
			}
		}
	}
	return changed, nil
}
