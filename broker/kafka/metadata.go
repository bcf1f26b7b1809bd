package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/internal/kafkadir"
)

// What everybody may do where nobody is asked who he is, as Kafka without an
// authorizer tells: a bit for each operation.
const (
	topicOperations   = 3576
	clusterOperations = 8096
)

func serveMetadata(q *call, req *kmsg.MetadataRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrMetadataResponse()
	byID := false
	for _, t := range req.Topics {
		byID = byID || t.TopicID != broker.TopicID{}
	}
	if byID && q.version < 12 {
		for _, t := range req.Topics {
			resp.Topics = append(resp.Topics, missing(t.Topic, t.TopicID, kerr.InvalidRequest.Code))
		}
		resp.ControllerID = -1
		return resp, nil
	}
	for _, t := range req.Topics {
		if t.Topic == nil && t.TopicID == (broker.TopicID{}) {
			for _, t := range req.Topics {
				resp.Topics = append(resp.Topics, missing(kmsg.StringPtr(""), t.TopicID, kerr.UnknownServerError.Code))
			}
			resp.ControllerID = -1
			return resp, nil
		}
	}
	q.cluster(resp)
	if q.version >= 8 && req.IncludeClusterAuthorizedOperations {
		resp.AuthorizedOperations = clusterOperations
	}
	// No list is all of them, and in version 0, which cannot tell, an empty one is.
	if req.Topics == nil || q.version == 0 && len(req.Topics) == 0 {
		for _, t := range q.s.b.Topics() {
			resp.Topics = append(resp.Topics, q.describe(t))
		}
	} else {
		q.describeAsked(resp, req, byID)
	}
	if q.version >= 8 && req.IncludeTopicAuthorizedOperations {
		for i := range resp.Topics {
			if resp.Topics[i].Topic != nil { // of an id that is not known nothing is told
				resp.Topics[i].AuthorizedOperations = topicOperations
			}
		}
	}
	return resp, nil
}

// cluster tells of the one broker there is.
func (q *call) cluster(resp *kmsg.MetadataResponse) {
	one := kmsg.NewMetadataResponseBroker()
	one.NodeID = q.s.b.NodeID()
	one.Host, one.Port = q.s.address(q.c)
	resp.Brokers = append(resp.Brokers, one)
	resp.ClusterID, resp.ControllerID = kmsg.StringPtr(q.s.b.ClusterID()), one.NodeID
}

func (q *call) describeAsked(resp *kmsg.MetadataResponse, req *kmsg.MetadataRequest, byID bool) {
	created := make(map[string]broker.Created)
	if !byID {
		created = q.autoCreate(req)
	}
	asked := make(map[partitionKey]bool)
	for _, t := range req.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		if byID {
			if name = ""; t.TopicID == (broker.TopicID{}) {
				continue // an entry by name does not count beside one by id
			}
		}
		key := partitionKey{topic: name, id: t.TopicID}
		if asked[key] {
			continue
		}
		asked[key] = true
		resp.Topics = append(resp.Topics, q.describeOne(name, t.TopicID, created[name], byID))
	}
}

func (q *call) describeOne(name string, id broker.TopicID, created broker.Created, byID bool) kmsg.MetadataResponseTopic {
	if byID {
		t, err := q.s.b.TopicByID(id)
		if err != nil {
			return missing(nil, id, code(err))
		}
		return q.describe(t)
	}
	t, err := q.s.b.Topic(name)
	switch {
	case err == nil:
		return q.describe(t)
	case !kafkadir.ValidTopic(name):
		err = kerr.InvalidTopicException
	case errors.Is(created.Err, kerr.InvalidTopicException), errors.Is(created.Err, kerr.TopicAlreadyExists):
		// It collides with another, or is half removed: there is none.
	case created.Err != nil:
		err = created.Err
	}
	return missing(&name, id, code(err))
}

// autoCreate creates the topics that somebody asks for and that are not there, if
// that is wanted, and tells what became of them.
func (q *call) autoCreate(req *kmsg.MetadataRequest) map[string]broker.Created {
	if q.version >= 4 && !req.AllowAutoTopicCreation || !q.s.b.ConfigBool("auto.create.topics.enable") {
		return nil
	}
	var specs []broker.TopicSpec
	tried := make(map[string]broker.Created)
	for _, t := range req.Topics {
		name := *t.Topic
		if _, again := tried[name]; again || broker.Internal(name) || !kafkadir.ValidTopic(name) {
			continue
		}
		if _, err := q.s.b.Topic(name); err != nil {
			tried[name] = broker.Created{}
			specs = append(specs, broker.TopicSpec{Name: name})
		}
	}
	if len(specs) == 0 {
		return nil
	}
	for i, c := range q.s.b.CreateTopics(q.ctx, specs) {
		tried[specs[i].Name] = c
	}
	return tried
}

func missing(name *string, id broker.TopicID, code int16) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.ErrorCode = name, id, code
	t.IsInternal = name != nil && broker.Internal(*name)
	return t
}

func (q *call) describe(t *broker.Topic) kmsg.MetadataResponseTopic {
	node := q.s.b.NodeID()
	answer := missing(kmsg.StringPtr(t.Name()), t.ID(), 0)
	for _, p := range t.Partitions() {
		a := kmsg.NewMetadataResponseTopicPartition()
		a.Partition, a.Leader, a.LeaderEpoch = p.Number(), node, p.LeaderEpoch()
		a.Replicas, a.ISR, a.OfflineReplicas = []int32{node}, []int32{node}, []int32{}
		if _, err := p.Log(); err != nil {
			a.ErrorCode, a.Leader, a.ISR, a.OfflineReplicas = kerr.LeaderNotAvailable.Code, -1, []int32{}, []int32{node}
		}
		answer.Partitions = append(answer.Partitions, a)
	}
	return answer
}
