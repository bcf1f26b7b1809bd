package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/group/assign"
)

// member are the options of a group's member. What is printed is marked, and what
// is marked is committed.
func (c *consumer) member(s span) []kgo.Opt {
	return []kgo.Opt{kgo.ConsumerGroup(c.group), kgo.ConsumeTopics(c.topics...), kgo.AutoCommitMarks(), kgo.BlockRebalanceOnPoll(),
		kgo.AdjustFetchOffsetsFn(func(ctx context.Context, starts map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
			return starts, c.given(ctx, s, starts)
		}),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, lost map[string][]int32) {
			_ = client.CommitMarkedOffsets(ctx) // who gets them goes on where it can
			c.taken(lost)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { c.taken(lost) })}
}

// given notes where partitions are read from and, by now, to.
func (c *consumer) given(ctx context.Context, s span, starts map[string]map[int32]kgo.Offset) error {
	of := make(map[assign.TopicPartition]bool)
	for topic, partitions := range starts {
		for number := range partitions {
			of[assign.TopicPartition{Topic: topic, Partition: number}] = true
		}
	}
	all, err := s.bounds(ctx, c.asked, of, c.level)
	if err != nil {
		return err
	}
	for tp, b := range all {
		if at := starts[tp.Topic][tp.Partition].EpochOffset().Offset; at >= 0 { // committed
			b.from = at
			all[tp] = b
		}
	}
	c.assign(all)
	return nil
}

func (c *consumer) taken(lost map[string][]int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for topic, partitions := range lost {
		for _, number := range partitions {
			delete(c.mu.partitions, assign.TopicPartition{Topic: topic, Partition: number})
		}
	}
}
