package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/internal/kafkadir"
)

func serveDescribeProducers(q *call, req *kmsg.DescribeProducersRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDescribeProducersResponse()
	for _, t := range req.Topics {
		answer := kmsg.NewDescribeProducersResponseTopic()
		answer.Topic = t.Topic
		for _, number := range t.Partitions {
			a := kmsg.NewDescribeProducersResponseTopicPartition()
			a.Partition = number
			active, err := q.activeProducers(t.Topic, number)
			a.ErrorCode, a.ErrorMessage, a.ActiveProducers = code(err), detail(err), active
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

func (q *call) activeProducers(topic string, number int32) ([]kmsg.DescribeProducersResponseTopicPartitionActiveProducer, error) {
	list := []kmsg.DescribeProducersResponseTopicPartitionActiveProducer{}
	if !kafkadir.ValidTopic(topic) {
		return list, kerr.InvalidTopicException
	}
	p, err := q.s.b.Partition(topic, number)
	if err != nil {
		return list, err
	}
	l, err := p.Log()
	if err != nil {
		return list, err
	}
	for _, s := range l.Producers() {
		a := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
		a.ProducerID, a.ProducerEpoch, a.LastSequence, a.LastTimestamp = s.ID, int32(s.Epoch), s.LastSequence, s.LastTimestamp
		a.CoordinatorEpoch, a.CurrentTxnStartOffset = s.CoordinatorEpoch, s.TxnFirst
		list = append(list, a)
	}
	return list, nil
}
