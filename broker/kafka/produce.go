package kafka

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// adminClient is the client id by which Kafka lets one write to internal topics.
const adminClient = "__admin_client"

func serveProduce(q *call, req *kmsg.ProduceRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrProduceResponse()
	last := lastOfEach(req)
	failure := unreadable(req)
	all := failure
	for i := range req.Topics {
		t := &req.Topics[i]
		answer := kmsg.NewProduceResponseTopic()
		answer.Topic, answer.TopicID = t.Topic, t.TopicID
		topic, err := q.topic(t.Topic, t.TopicID, q.version >= 13)
		for j := range t.Partitions {
			p := &t.Partitions[j]
			if last != nil && last[partitionKey{t.Topic, t.TopicID, p.Partition}] != p {
				continue
			}
			a := q.produce(req, topic, cmp.Or(all, err), p)
			if a.ErrorCode != 0 && failure == nil {
				failure = kerr.ErrorForCode(a.ErrorCode)
			}
			answer.Partitions = append(answer.Partitions, a)
		}
		if len(answer.Partitions) > 0 {
			resp.Topics = append(resp.Topics, answer)
		}
	}
	if req.Acks == 0 {
		return nil, failure // there is no answer to tell of it
	}
	return resp, nil
}

// unreadable says why nothing of a request is taken: Kafka looks at the first
// batch of each partition before it does anything.
func unreadable(req *kmsg.ProduceRequest) error {
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			b := req.Topics[i].Partitions[j].Records
			if _, err := record.ParseHeader(b); !errors.Is(err, record.ErrCorrupt) {
				continue
			}
			var h kmsg.RecordBatch
			_ = h.ReadFrom(b)
			if h.Length < 14 || h.Magic < 0 || h.Magic > 2 {
				return failed(kerr.CorruptMessage, fmt.Sprintf("a batch of magic %d and length %d", h.Magic, h.Length))
			}
		}
	}
	return nil
}

type partitionKey struct {
	topic     string
	id        broker.TopicID
	partition int32
}

// lastOfEach finds the last entry of each partition of a request, which counts;
// nil if all are different for sure.
func lastOfEach(req *kmsg.ProduceRequest) map[partitionKey]*kmsg.ProduceRequestTopicPartition {
	if len(req.Topics) == 1 && len(req.Topics[0].Partitions) == 1 {
		return nil
	}
	last := make(map[partitionKey]*kmsg.ProduceRequestTopicPartition)
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			last[partitionKey{t.Topic, t.TopicID, t.Partitions[j].Partition}] = &t.Partitions[j]
		}
	}
	return last
}

// topic is the topic that a request names.
func (q *call) topic(name string, id broker.TopicID, byID bool) (*broker.Topic, error) {
	if byID {
		return q.s.b.TopicByID(id)
	}
	return q.s.b.Topic(name)
}

func (q *call) produce(req *kmsg.ProduceRequest, t *broker.Topic, err error, p *kmsg.ProduceRequestTopicPartition) kmsg.ProduceResponseTopicPartition {
	a := kmsg.NewProduceResponseTopicPartition()
	a.Partition, a.BaseOffset, a.LogAppendTime, a.LogStartOffset = p.Partition, -1, -1, -1
	var placed log.Appended
	var to *broker.Partition
	if err == nil {
		to, placed, err = q.append(req, t, p)
	}
	var refused *broker.Error
	if errors.As(err, &refused) {
		for _, r := range refused.Records {
			bad := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			bad.RelativeOffset, bad.ErrorMessage = r.Index, kmsg.StringPtr(r.Detail)
			a.ErrorRecords = append(a.ErrorRecords, bad)
		}
	}
	a.ErrorCode, a.ErrorMessage = code(err), detail(err)
	if err == nil {
		a.BaseOffset = placed.First
		if !placed.Time.IsZero() {
			a.LogAppendTime = placed.Time.UnixMilli()
		}
	}
	if err == nil || refused != nil && refused.Examined {
		if l, closed := to.Log(); closed == nil {
			a.LogStartOffset = l.First()
		}
	}
	return a
}

func (q *call) append(req *kmsg.ProduceRequest, t *broker.Topic, p *kmsg.ProduceRequestTopicPartition) (*broker.Partition, log.Appended, error) {
	to, err := t.Partition(p.Partition)
	h, wrong := record.ParseHeader(p.Records)
	switch {
	case err != nil:
		return to, log.Appended{}, err
	// What Kafka finds out of a batch before it looks at what is asked: the codec,
	// and that it is one.
	case h.Codec() == record.Zstd && q.version < 7:
		return to, log.Appended{}, kerr.UnsupportedCompressionType
	case req.Acks < -1 || req.Acks > 1:
		if errors.Is(wrong, record.ErrCorrupt) {
			return to, log.Appended{}, kerr.InvalidRequiredAcks
		}
		return to, log.Appended{}, cmp.Or(broker.OneBatch(p.Records), error(kerr.InvalidRequiredAcks))
	case broker.Internal(t.Name()) && q.clientID != adminClient:
		return to, log.Appended{}, kerr.InvalidTopicException
	case wrong == nil && h.Transactional() && req.TransactionID == nil:
		return to, log.Appended{}, kerr.TransactionalIDAuthorizationFailed
	case wrong == nil && h.Transactional():
		return to, log.Appended{}, failed(kerr.InvalidTxnState, "no transaction is open: there are none yet")
	}
	placed, err := to.Append(q.ctx, p.Records)
	return to, placed, err
}
