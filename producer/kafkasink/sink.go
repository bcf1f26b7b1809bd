package kafkasink

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/producer"
)

// Sink is a producer.Sink over a Kafka cluster.
type Sink struct {
	client *kgo.Client
	mu     sync.Mutex
	ids    map[string][16]byte // of topics, which newer requests name them by
	nodes  map[int32]*node
	closed chan struct{}
	group  sync.WaitGroup
}

// New makes a sink with a client of its own.
func New(opts ...kgo.Opt) (*Sink, error) {
	s := &Sink{ids: make(map[string][16]byte), nodes: make(map[int32]*node), closed: make(chan struct{})}
	client, err := kgo.NewClient(append(opts, kgo.WithHooks(s))...)
	if err != nil {
		return nil, err
	}
	s.client = client
	return s, nil
}

// Close closes the connections. Producers that use it are to be closed before.
func (s *Sink) Close() {
	close(s.closed)
	s.client.Close()
	s.group.Wait()
}

// Topic implements producer.Sink. It creates the topic where the cluster does
// that by itself.
func (s *Sink) Topic(ctx context.Context, name string) ([]producer.PartitionInfo, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = true
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(name)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return nil, broken(err)
	}
	for _, t := range resp.Topics {
		if t.Topic == nil || *t.Topic != name {
			continue
		}
		if err := coded(t.ErrorCode, nil); err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.ids[name] = t.TopicID
		s.mu.Unlock()
		return partitions(t.Partitions)
	}
	return nil, fmt.Errorf("%w: the cluster said nothing of topic %q", producer.ErrUnavailable, name)
}

func partitions(list []kmsg.MetadataResponseTopicPartition) ([]producer.PartitionInfo, error) {
	infos := make([]producer.PartitionInfo, len(list))
	for _, p := range list {
		if p.Partition < 0 || int(p.Partition) >= len(list) {
			return nil, fmt.Errorf("%w: partition %d of %d", producer.ErrUnavailable, p.Partition, len(list))
		}
		infos[p.Partition] = producer.PartitionInfo{Leader: producer.Node(p.Leader), Leaderless: p.Leader < 0}
	}
	return infos, nil
}

// ProducerID implements producer.Sink.
func (s *Sink) ProducerID(ctx context.Context) (id int64, epoch int16, err error) {
	resp, err := kmsg.NewPtrInitProducerIDRequest().RequestWith(ctx, s.client)
	if err != nil {
		return 0, 0, broken(err)
	}
	return resp.ProducerID, resp.ProducerEpoch, coded(resp.ErrorCode, nil)
}

// Produce implements producer.Sink.
func (s *Sink) Produce(ctx context.Context, to producer.Node, r *producer.Request, done func([]producer.Result, error)) {
	s.node(int32(to)).send(&call{ctx: ctx, request: s.encode(r), batches: r.Batches, unacked: r.Acks == producer.AcksNone, done: done})
}

// encode is the request in Kafka's words.
func (s *Sink) encode(r *producer.Request) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks = map[producer.Acks]int16{producer.AcksAll: -1, producer.AcksLeader: 1, producer.AcksNone: 0}[r.Acks]
	req.TimeoutMillis = int32(r.Timeout.Milliseconds())
	at := make(map[string]int)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range r.Batches {
		i, ok := at[b.Topic]
		if !ok {
			i = len(req.Topics)
			at[b.Topic] = i
			t := kmsg.NewProduceRequestTopic()
			t.Topic, t.TopicID = b.Topic, s.ids[b.Topic]
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = b.Partition, b.Raw
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, p)
	}
	return req
}

// results sorts an answer into the order of the batches.
func (s *Sink) results(resp *kmsg.ProduceResponse, batches []producer.Batch) []producer.Result {
	type place struct {
		topic     string
		partition int32
	}
	names := make(map[[16]byte]string)
	s.mu.Lock()
	for _, b := range batches {
		names[s.ids[b.Topic]] = b.Topic
	}
	s.mu.Unlock()
	found := make(map[place]producer.Result)
	for _, t := range resp.Topics {
		name := t.Topic
		if name == "" {
			name = names[t.TopicID]
		}
		for _, p := range t.Partitions {
			r := producer.Result{Err: coded(p.ErrorCode, p.ErrorMessage), LogStart: max(p.LogStartOffset, 0)}
			if r.Err == nil && p.BaseOffset >= 0 {
				r.Offset, r.Stored = p.BaseOffset, true
				if p.LogAppendTime >= 0 {
					r.AppendTime = time.UnixMilli(p.LogAppendTime).UTC()
				}
			}
			found[place{name, p.Partition}] = r
		}
	}
	results := make([]producer.Result, len(batches))
	for i, b := range batches {
		r, ok := found[place{b.Topic, b.Partition}]
		if !ok {
			r.Err = fmt.Errorf("%w: the broker said nothing of %s/%d", producer.ErrUnavailable, b.Topic, b.Partition)
		}
		results[i] = r
	}
	return results
}
