package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

func serveOffsetForLeaderEpoch(q *call, req *kmsg.OffsetForLeaderEpochRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrOffsetForLeaderEpochResponse()
	for _, t := range req.Topics {
		answer := kmsg.NewOffsetForLeaderEpochResponseTopic()
		answer.Topic = t.Topic
		for _, p := range t.Partitions {
			a := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			a.Partition = p.Partition
			epoch, end, err := q.endOfEpoch(t.Topic, p)
			a.LeaderEpoch, a.EndOffset, a.ErrorCode = epoch, end, code(err)
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// endOfEpoch is where an epoch ended, -1 where this log cannot tell.
func (q *call) endOfEpoch(topic string, p kmsg.OffsetForLeaderEpochRequestTopicPartition) (epoch int32, end int64, err error) {
	at, err := q.s.b.Partition(topic, p.Partition)
	if err == nil {
		err = fenced(at, p.CurrentLeaderEpoch)
	}
	if err != nil {
		return -1, -1, err
	}
	l, err := at.Log()
	if err != nil {
		return -1, -1, err
	}
	if epoch, end, ok := l.EndOffsetForEpoch(p.LeaderEpoch); ok {
		return epoch, end, nil
	}
	return -1, -1, nil
}
