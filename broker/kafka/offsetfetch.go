package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
)

// serveOffsetFetch tells committed offsets, from version 8 on of many groups.
func serveOffsetFetch(q *call, req *kmsg.OffsetFetchRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrOffsetFetchResponse()
	if q.version >= 8 {
		for _, g := range req.Groups {
			resp.Groups = append(resp.Groups, q.offsets(g, req.RequireStable))
		}
		return resp, nil
	}
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = req.Group
	if req.Topics != nil || q.version < 2 {
		asked.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
	}
	for _, t := range req.Topics {
		one := kmsg.NewOffsetFetchRequestGroupTopic()
		one.Topic, one.Partitions = t.Topic, t.Partitions
		asked.Topics = append(asked.Topics, one)
	}
	got := q.offsets(asked, req.RequireStable)
	resp.ErrorCode = got.ErrorCode
	if got.ErrorCode != 0 && q.version < 2 { // there it is told of each partition
		for _, t := range asked.Topics {
			got.Topics = append(got.Topics, noOffsets(t, got.ErrorCode))
		}
	}
	for _, t := range got.Topics {
		answer := kmsg.NewOffsetFetchResponseTopic()
		answer.Topic = t.Topic
		for _, p := range t.Partitions {
			a := kmsg.NewOffsetFetchResponseTopicPartition()
			a.Partition, a.Offset, a.LeaderEpoch, a.Metadata, a.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// offsets are those of one group: of the topics asked for or, without a list, of all.
func (q *call) offsets(asked kmsg.OffsetFetchRequestGroup, stable bool) kmsg.OffsetFetchResponseGroup {
	answer := kmsg.NewOffsetFetchResponseGroup()
	answer.Group = asked.Group
	var partitions []group.TopicPartition
	ids := make(map[string]broker.TopicID)
	for _, t := range asked.Topics {
		name := t.Topic
		if q.version >= 10 {
			topic, err := q.offsetsOf("", t.TopicID)
			if err != nil {
				answer.Topics = append(answer.Topics, noOffsets(t, code(err)))
				continue
			}
			name, ids[topic.Name()] = topic.Name(), t.TopicID
		}
		for _, p := range t.Partitions {
			partitions = append(partitions, group.TopicPartition{Topic: name, Partition: p})
		}
	}
	var got []group.Fetched
	var failure group.Code
	err := q.s.b.Group(asked.Group, func(c *group.Coordinator, _ time.Time) {
		if asked.Topics == nil {
			got, failure = c.FetchAll(asked.Group, stable)
		} else {
			got, failure = c.Fetch(asked.Group, partitions, stable)
		}
	})
	if err != nil {
		failure = group.Code(code(err))
	}
	if failure != group.None {
		answer.ErrorCode, answer.Topics = int16(failure), nil
		return answer
	}
	for _, f := range got {
		a := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		a.Partition, a.Offset, a.LeaderEpoch, a.Metadata, a.ErrorCode = f.Partition, f.Offset.Offset, f.LeaderEpoch, kmsg.StringPtr(f.Metadata), int16(f.Code)
		id, known := ids[f.Topic]
		if !known && q.version >= 10 {
			topic, err := q.s.b.Topic(f.Topic)
			if err != nil {
				continue // it is gone, and so is its id
			}
			id = topic.ID()
		}
		if n := len(answer.Topics); n == 0 || answer.Topics[n-1].Topic != f.Topic {
			one := kmsg.NewOffsetFetchResponseGroupTopic()
			one.Topic, one.TopicID = f.Topic, id
			answer.Topics = append(answer.Topics, one)
		}
		last := &answer.Topics[len(answer.Topics)-1]
		last.Partitions = append(last.Partitions, a)
	}
	return answer
}

// noOffsets answers for a topic as a whole.
func noOffsets(t kmsg.OffsetFetchRequestGroupTopic, code int16) kmsg.OffsetFetchResponseGroupTopic {
	one := kmsg.NewOffsetFetchResponseGroupTopic()
	one.Topic, one.TopicID = t.Topic, t.TopicID
	for _, p := range t.Partitions {
		a := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		a.Partition, a.Offset, a.LeaderEpoch, a.Metadata, a.ErrorCode = p, -1, -1, kmsg.StringPtr(""), code
		one.Partitions = append(one.Partitions, a)
	}
	return one
}
