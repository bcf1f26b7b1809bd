package kafka

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/internal/kafkadir"
)

// mostDescribed is how many partitions one answer tells of
// (max.request.partition.size.limit).
const mostDescribed = 2000

// serveDescribeTopicPartitions tells of topics in the order of their names, some
// partitions at a time (KIP-966).
func serveDescribeTopicPartitions(q *call, req *kmsg.DescribeTopicPartitionsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
	names := make([]string, 0, len(req.Topics))
	for _, t := range req.Topics {
		names = append(names, t.Topic)
	}
	if len(names) == 0 {
		for _, t := range q.s.b.Topics() {
			names = append(names, t.Name())
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	from := int32(0)
	if c := req.Cursor; c != nil {
		at, found := slices.BinarySearchFunc(names, c.Topic, cmp.Compare[string])
		if c.Partition < 0 || !found && len(req.Topics) > 0 {
			resp.Topics = misplaced(req.Topics)
			return resp, nil
		}
		if names = names[at:]; found {
			from = c.Partition
		}
	}
	left := min(max(int(req.ResponsePartitionLimit), 1), mostDescribed)
	for _, name := range names {
		if left == 0 {
			resp.NextCursor = cursorAt(name, 0)
			break
		}
		t, err := q.s.b.Topic(name)
		if !kafkadir.ValidTopic(name) {
			err = kerr.InvalidTopicException
		}
		if err != nil {
			a := undescribed(name, err)
			a.AuthorizedOperations = topicOperations
			resp.Topics = append(resp.Topics, a)
			from = 0
			continue
		}
		all := t.Partitions()
		to := min(len(all), int(from)+left)
		resp.Topics = append(resp.Topics, q.partitions(t, int(from), to))
		if to < len(all) {
			resp.NextCursor = cursorAt(name, to)
			break
		}
		left -= max(to-int(from), 0)
		from = 0
	}
	return resp, nil
}

// misplaced refuses a cursor, for each topic as it was asked for.
func misplaced(asked []kmsg.DescribeTopicPartitionsRequestTopic) (all []kmsg.DescribeTopicPartitionsResponseTopic) {
	for _, t := range asked {
		a := undescribed(t.Topic, kerr.InvalidRequest)
		a.IsInternal = false
		all = append(all, a)
	}
	return all
}

func cursorAt(topic string, partition int) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	next := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	next.Topic, next.Partition = topic, int32(partition)
	return &next
}

func undescribed(name string, err error) kmsg.DescribeTopicPartitionsResponseTopic {
	a := kmsg.NewDescribeTopicPartitionsResponseTopic()
	a.Topic, a.ErrorCode, a.IsInternal = kmsg.StringPtr(name), code(err), broker.Internal(name)
	return a
}

// partitions tells of the partitions from..to-1 of a topic.
func (q *call) partitions(t *broker.Topic, from, to int) kmsg.DescribeTopicPartitionsResponseTopic {
	a := undescribed(t.Name(), nil)
	a.TopicID, a.AuthorizedOperations = t.ID(), topicOperations
	for _, p := range q.describe(t).Partitions {
		if int(p.Partition) < from || int(p.Partition) >= to {
			continue
		}
		one := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		one.ErrorCode, one.Partition, one.LeaderID, one.LeaderEpoch = p.ErrorCode, p.Partition, p.Leader, p.LeaderEpoch
		one.Replicas, one.ISR, one.OfflineReplicas = p.Replicas, p.ISR, p.OfflineReplicas
		one.EligibleLeaderReplicas, one.LastKnownELR = []int32{}, []int32{}
		a.Partitions = append(a.Partitions, one)
	}
	return a
}
