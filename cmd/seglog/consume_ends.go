package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group/assign"
)

func (c *consumer) assign(all map[assign.TopicPartition]bounds) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.partitions == nil {
		c.mu.partitions = make(map[assign.TopicPartition]*position)
	}
	for tp, b := range all {
		c.mu.partitions[tp] = &position{b.from, b.end}
	}
}

// allDone says that all partitions were read to their ends. A member that was
// given none yet is not done.
func (c *consumer) allDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.mu.partitions {
		if !p.done() {
			return false
		}
	}
	return len(c.mu.partitions) > 0
}

// passOver moves the positions behind which there are no records up to the end:
// what transactions that were aborted or compaction have left there is never
// handed out by the client.
func (c *consumer) passOver(ctx context.Context) error {
	waiting := make(map[assign.TopicPartition]position)
	c.mu.Lock()
	for tp, p := range c.mu.partitions {
		if !p.done() {
			waiting[tp] = *p
		}
	}
	c.mu.Unlock()
	for _, tp := range inOrder(waiting) {
		at := waiting[tp]
		empty, err := c.empty(ctx, tp, at.next, at.end)
		if err != nil {
			return fmt.Errorf("%s-%d: %w", tp.Topic, tp.Partition, err)
		}
		c.mu.Lock()
		if p := c.mu.partitions[tp]; empty && p != nil && *p == at {
			p.next = p.end
		}
		c.mu.Unlock()
	}
	return nil
}

// empty asks the broker whether there are no records in [from, end) of a
// partition. If that cannot be told now, it is false.
func (c *consumer) empty(ctx context.Context, tp assign.TopicPartition, from, end int64) (bool, error) {
	for from < end {
		p, err := c.fetch(ctx, tp, from)
		if err != nil {
			return false, err
		}
		switch err := kerr.ErrorForCode(p.ErrorCode); {
		case err == kerr.OffsetOutOfRange: // dropped meanwhile
			first, err := c.asked.offsets(ctx, map[assign.TopicPartition]bool{tp: true}, earliest)
			if at, ok := first[tp]; err != nil || !ok || at <= from {
				return false, err
			}
			from = first[tp]
			continue
		case kerr.IsRetriable(err):
			return false, nil
		case err != nil:
			return false, err
		}
		got, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: from, IsolationLevel: isolations[c.level],
			Topic: tp.Topic, Partition: tp.Partition}, p, kgo.DefaultDecompressor(), nil)
		switch {
		case got.Err != nil:
			return false, got.Err
		case len(got.Records) > 0:
			return got.Records[0].Offset >= end, nil
		case next <= from: // not even a batch without records
			return true, nil
		}
		from = next
	}
	return true, nil
}

// fetch asks the leader of a partition for what is from an offset on.
func (c *consumer) fetch(ctx context.Context, tp assign.TopicPartition, from int64) (*kmsg.FetchResponseTopicPartition, error) {
	leader, _, err := c.client.PartitionLeader(tp.Topic, tp.Partition)
	if err != nil || leader < 0 {
		return nil, errors.Join(fmt.Errorf("it has no leader"), err)
	}
	const most = 1 << 20
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = tp.Partition, from, most
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = tp.Topic, c.ids[tp.Topic]
	t.Partitions = append(t.Partitions, p)
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.IsolationLevel, req.SessionEpoch = most, c.level, -1
	req.Topics = append(req.Topics, t)
	// Not the client's connection, on which its own fetch waits for more.
	answer, err := c.asked.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("the broker answered for %d topics, want 1 with 1 partition", len(resp.Topics))
	}
	return &resp.Topics[0].Partitions[0], nil
}
