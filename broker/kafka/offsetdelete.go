package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// serveOffsetDelete deletes the offsets of partitions that exist.
func serveOffsetDelete(q *call, req *kmsg.OffsetDeleteRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrOffsetDeleteResponse()
	type place struct{ topic, partition int }
	var places []place // of the answers to partitions
	var partitions []group.TopicPartition
	for i, t := range req.Topics {
		answer := kmsg.NewOffsetDeleteResponseTopic()
		answer.Topic = t.Topic
		for j, p := range t.Partitions {
			a := kmsg.NewOffsetDeleteResponseTopicPartition()
			a.Partition = p.Partition
			_, err := q.s.b.Partition(t.Topic, p.Partition)
			if a.ErrorCode = code(err); err == nil {
				places, partitions = append(places, place{i, j}), append(partitions, group.TopicPartition{Topic: t.Topic, Partition: p.Partition})
			}
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	type deleted struct {
		each []group.Committed
		code group.Code
	}
	got, err := coordinated(q, req.Group, func(c *group.Coordinator, now time.Time, reply func(deleted)) {
		c.DeleteOffsets(now, req.Group, partitions, func(each []group.Committed, code group.Code) { reply(deleted{each, code}) })
	})
	switch {
	case err == errGone:
		return nil, err
	case err != nil:
		got.code = group.Code(code(err))
	}
	if got.code != group.None {
		resp.ErrorCode, resp.Topics = int16(got.code), nil
		return resp, nil
	}
	for i, at := range places {
		resp.Topics[at.topic].Partitions[at.partition].ErrorCode = int16(got.each[i].Code)
	}
	return resp, nil
}
