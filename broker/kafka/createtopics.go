package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

func serveCreateTopics(q *call, req *kmsg.CreateTopicsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrCreateTopicsResponse()
	times := make(map[string]int)
	var partitions int64
	for i := range req.Topics {
		t := &req.Topics[i]
		times[t.Topic]++
		partitions += max(int64(t.NumPartitions), int64(len(t.ReplicaAssignment)), 0)
	}
	if outOfTime(req.TimeoutMillis, times) {
		for i := range req.Topics {
			resp.Topics = append(resp.Topics, q.createdTopic(&req.Topics[i], nil, kerr.RequestTimedOut))
		}
		return resp, nil
	}
	var asked []*kmsg.CreateTopicsRequestTopic // each name once
	var refused []error                        // nil: it is among the specs
	var specs []broker.TopicSpec
	for i := range req.Topics {
		t := &req.Topics[i]
		if times[t.Topic] == 0 {
			continue // told of already
		}
		var err error
		switch {
		case times[t.Topic] > 1:
			err = failed(kerr.InvalidRequest, "the topic is in the request more than once")
		case partitions > mostPartitions:
			err = failed(kerr.PolicyViolation, fmt.Sprintf("%d partitions in one request, at most %d", partitions, mostPartitions))
		default:
			var spec broker.TopicSpec
			if spec, err = q.topicSpec(t, req.ValidateOnly); err == nil {
				specs = append(specs, spec)
				break
			}
			// Kafka looks at the name and the configuration first.
			spec.Partitions, spec.ValidateOnly = 1, true
			if _, first := q.s.b.CreateTopic(q.ctx, spec); first != nil {
				err = first
			}
		}
		times[t.Topic] = 0
		asked, refused = append(asked, t), append(refused, err)
	}
	created := q.s.b.CreateTopics(q.ctx, specs)
	for i, t := range asked {
		one := broker.Created{Err: refused[i]}
		if one.Err == nil {
			one, created = created[0], created[1:]
		}
		resp.Topics = append(resp.Topics, q.createdTopic(t, one.Topic, one.Err))
	}
	return resp, nil
}

// mostPartitions is how many partitions may be asked for in one request.
const mostPartitions = 10_000

// topicSpec holds to the rules what only the protocol can say.
func (q *call) topicSpec(t *kmsg.CreateTopicsRequestTopic, validateOnly bool) (broker.TopicSpec, error) {
	spec := broker.TopicSpec{Name: t.Topic, Partitions: t.NumPartitions, Configs: make(map[string]string), ValidateOnly: validateOnly}
	for _, c := range t.Configs {
		if c.Value == nil {
			return spec, failed(kerr.InvalidConfig, "no value for "+c.Name)
		}
		spec.Configs[c.Name] = *c.Value
	}
	if len(t.ReplicaAssignment) > 0 {
		if t.NumPartitions != -1 || t.ReplicationFactor != -1 {
			return spec, failed(kerr.InvalidRequest, "with an assignment of replicas the numbers of partitions and replicas have to be -1")
		}
		if err := q.assigned(t.ReplicaAssignment); err != nil {
			return spec, err
		}
		spec.Partitions = int32(len(t.ReplicaAssignment))
	} else {
		switch {
		case t.ReplicationFactor < -1 || t.ReplicationFactor == 0:
			return spec, failed(kerr.InvalidReplicationFactor, "the number of replicas has to be 1 at least, or -1 for the default")
		case t.NumPartitions < -1 || t.NumPartitions == 0:
			return spec, failed(kerr.InvalidPartitions, "the number of partitions has to be 1 at least, or -1 for the default")
		case t.ReplicationFactor > 1:
			return spec, failed(kerr.InvalidReplicationFactor, fmt.Sprintf("%d replicas, and there is one broker", t.ReplicationFactor))
		case t.NumPartitions == -1:
			spec.Partitions = 0
		}
	}
	return spec, nil
}

// assigned holds an assignment to what there is: each partition once, without a
// gap, on this broker.
func (q *call) assigned(list []kmsg.CreateTopicsRequestTopicReplicaAssignment) error {
	seen := make(map[int32]bool)
	for _, a := range list {
		if seen[a.Partition] || a.Partition < 0 || int(a.Partition) >= len(list) {
			return failed(kerr.InvalidReplicaAssignment, fmt.Sprintf("partition %d: each from 0 to %d has to be there once", a.Partition, len(list)-1))
		}
		seen[a.Partition] = true
		if err := q.replicas(a.Replicas); err != nil {
			return err
		}
	}
	return nil
}

// replicas holds the replicas of a partition to what there is: this broker, once.
func (q *call) replicas(list []int32) error {
	if len(list) == 0 {
		return failed(kerr.InvalidReplicaAssignment, "a partition without replicas")
	}
	for i, node := range list {
		if node != q.s.b.NodeID() || i > 0 {
			return failed(kerr.InvalidReplicaAssignment, fmt.Sprintf("replicas on brokers %d, and there is broker %d alone", list, q.s.b.NodeID()))
		}
	}
	return nil
}

func (q *call) createdTopic(t *kmsg.CreateTopicsRequestTopic, created *broker.Topic, err error) kmsg.CreateTopicsResponseTopic {
	a := kmsg.NewCreateTopicsResponseTopic()
	a.Topic, a.ErrorCode, a.ErrorMessage = t.Topic, code(err), detail(err)
	a.NumPartitions, a.ReplicationFactor = -1, -1
	a.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
	if err != nil {
		return a
	}
	a.TopicID, a.NumPartitions, a.ReplicationFactor = created.ID(), created.Count(), 1
	if q.version < 5 {
		return a
	}
	for _, v := range q.s.b.TopicConfig(created) {
		c := kmsg.NewCreateTopicsResponseTopicConfig()
		c.Name, c.Value, c.ReadOnly, c.Source = v.Name, kmsg.StringPtr(v.Text), v.ReadOnly, int8(v.Source)
		a.Configs = append(a.Configs, c)
	}
	return a
}
