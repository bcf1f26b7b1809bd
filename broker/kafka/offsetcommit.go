package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
)

// serveOffsetCommit commits the offsets of partitions that exist.
func serveOffsetCommit(q *call, req *kmsg.OffsetCommitRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrOffsetCommitResponse()
	r := group.CommitRequest{Version: q.version, Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, Generation: req.Generation}
	if ms := req.RetentionTimeMillis; q.version >= 2 && q.version <= 4 && ms != -1 {
		r.Retention = max(time.Duration(min(ms, int64(time.Hour/time.Millisecond)*24*365*100))*time.Millisecond, time.Nanosecond)
	}
	type place struct{ topic, partition int }
	var places []place // of the answers to r.Offsets
	var topics []*broker.Topic
	for i := range req.Topics {
		t := &req.Topics[i]
		answer := kmsg.NewOffsetCommitResponseTopic()
		answer.Topic, answer.TopicID = t.Topic, t.TopicID
		topic, err := q.offsetsOf(t.Topic, t.TopicID)
		for j, p := range t.Partitions {
			a := kmsg.NewOffsetCommitResponseTopicPartition()
			a.Partition = p.Partition
			failure := err
			if failure == nil {
				_, failure = topic.Partition(p.Partition)
			}
			if a.ErrorCode = code(failure); failure == nil {
				places, topics = append(places, place{i, j}), append(topics, topic)
				c := group.Commit{TopicPartition: group.TopicPartition{Topic: topic.Name(), Partition: p.Partition}, TopicID: topic.ID(),
					Offset: p.Offset, LeaderEpoch: p.LeaderEpoch}
				if p.Metadata != nil {
					c.Metadata = *p.Metadata
				}
				r.Offsets = append(r.Offsets, c)
			}
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	if len(r.Offsets) == 0 {
		return resp, nil
	}
	committed, err := coordinated(q, req.Group, func(c *group.Coordinator, now time.Time, reply func([]group.Committed)) {
		for _, t := range topics {
			if t.Deleted() { // since: its offsets have been deleted already
				reply(nil)
				return
			}
		}
		c.Commit(now, r, reply)
	})
	switch {
	case err == errGone:
		return nil, err
	case err == nil && committed == nil:
		err = kerr.UnknownTopicOrPartition
	}
	for i, at := range places {
		a := &resp.Topics[at.topic].Partitions[at.partition]
		if a.ErrorCode = code(err); err == nil {
			a.ErrorCode = int16(committed[i].Code)
		}
	}
	return resp, nil
}
