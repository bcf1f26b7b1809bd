package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group/assign"
)

// The times by which ListOffsets is asked for the ends of a partition.
const (
	latest   = -1
	earliest = -2
)

// committed are the offsets of a group.
func (c cluster) committed(ctx context.Context, group string) (map[assign.TopicPartition]int64, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	resp, err := req.RequestWith(ctx, c)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return nil, err
	}
	offsets := make(map[assign.TopicPartition]int64)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			tp := assign.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("%s-%d: %w", tp.Topic, tp.Partition, err)
			}
			if p.Offset >= 0 {
				offsets[tp] = p.Offset
			}
		}
	}
	return offsets, nil
}

// offsets are those of a time, in milliseconds, or of an end. A partition that is
// gone, or in which there is nothing as late, has none.
func (c cluster) offsets(ctx context.Context, of map[assign.TopicPartition]bool, at int64) (map[assign.TopicPartition]int64, error) {
	return c.isolatedOffsets(ctx, of, at, readUncommitted)
}

// The isolation levels as the protocol has them.
const (
	readUncommitted int8 = 0
	readCommitted   int8 = 1
)

// isolatedOffsets are offsets at an isolation level: that of the latest ends
// before the first undecided transaction if only what is committed is read.
func (c cluster) isolatedOffsets(ctx context.Context, of map[assign.TopicPartition]bool, at int64, level int8) (map[assign.TopicPartition]int64, error) {
	offsets := make(map[assign.TopicPartition]int64)
	if len(of) == 0 {
		return offsets, nil
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = level
	for _, tp := range inOrder(of) {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != tp.Topic {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = tp.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = tp.Partition, at
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			switch err := kerr.ErrorForCode(p.ErrorCode); {
			case err == kerr.UnknownTopicOrPartition:
			case err != nil:
				return nil, fmt.Errorf("%s-%d: %w", t.Topic, p.Partition, err)
			case p.Offset >= 0:
				offsets[assign.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = p.Offset
			}
		}
	}
	return offsets, nil
}

func inOrder[V any](of map[assign.TopicPartition]V) []assign.TopicPartition {
	list := make([]assign.TopicPartition, 0, len(of))
	for tp := range of {
		list = append(list, tp)
	}
	slices.SortFunc(list, func(a, b assign.TopicPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return list
}
