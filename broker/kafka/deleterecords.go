package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/log"
)

func serveDeleteRecords(q *call, req *kmsg.DeleteRecordsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDeleteRecordsResponse()
	for _, t := range req.Topics {
		answer := kmsg.NewDeleteRecordsResponseTopic()
		answer.Topic = t.Topic
		last := make(map[int32]int) // of a partition that is there twice the last one counts
		for i, p := range t.Partitions {
			last[p.Partition] = i
		}
		for i, p := range t.Partitions {
			if last[p.Partition] != i {
				continue
			}
			a := kmsg.NewDeleteRecordsResponseTopicPartition()
			a.Partition = p.Partition
			low, err := q.deleteRecords(t.Topic, p.Partition, p.Offset)
			a.LowWatermark, a.ErrorCode = low, code(err)
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// deleteRecords drops the records below an offset, -1 being the high watermark,
// and returns where the log starts then.
func (q *call) deleteRecords(topic string, partition int32, offset int64) (low int64, err error) {
	if broker.Internal(topic) {
		return -1, kerr.InvalidTopicException
	}
	p, err := q.s.b.Partition(topic, partition)
	if err != nil {
		return -1, err
	}
	l, err := p.Log()
	switch {
	case err != nil:
		return -1, err
	case p.Topic().Compacted() && !p.Topic().Deletes():
		return -1, failed(kerr.PolicyViolation, "cleanup.policy is compact alone")
	case offset < -1:
		return -1, kerr.OffsetOutOfRange
	case offset == -1:
		offset = l.HighWatermark()
	}
	switch err := l.DropBefore(offset); {
	case errors.Is(err, log.ErrBeyond):
		return -1, kerr.OffsetOutOfRange
	case err != nil:
		return -1, broker.StorageError(err)
	}
	return l.First(), nil
}
