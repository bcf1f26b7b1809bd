package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func serveCreatePartitions(q *call, req *kmsg.CreatePartitionsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrCreatePartitionsResponse()
	times := make(map[string]int)
	for _, t := range req.Topics {
		times[t.Topic]++
	}
	if outOfTime(req.TimeoutMillis, times) {
		for _, t := range req.Topics {
			a := kmsg.NewCreatePartitionsResponseTopic()
			a.Topic, a.ErrorCode = t.Topic, kerr.RequestTimedOut.Code
			resp.Topics = append(resp.Topics, a)
		}
		return resp, nil
	}
	for _, t := range req.Topics {
		if times[t.Topic] == 0 {
			continue // told of already
		}
		a := kmsg.NewCreatePartitionsResponseTopic()
		a.Topic = t.Topic
		var err error
		switch {
		case times[t.Topic] > 1:
			err = failed(kerr.InvalidRequest, "the topic is in the request more than once")
		default:
			err = q.createPartitions(t, req.ValidateOnly)
		}
		times[t.Topic] = 0
		a.ErrorCode, a.ErrorMessage = code(err), detail(err)
		resp.Topics = append(resp.Topics, a)
	}
	return resp, nil
}

func (q *call) createPartitions(t kmsg.CreatePartitionsRequestTopic, validateOnly bool) error {
	if t.Assignment != nil {
		topic, err := q.s.b.Topic(t.Topic)
		if err != nil {
			return err
		}
		more := int(t.Count) - len(topic.Partitions())
		if more > 0 && len(t.Assignment) != more {
			return failed(kerr.InvalidReplicaAssignment, fmt.Sprintf("%d assignments of %d new partitions", len(t.Assignment), more))
		}
		for _, a := range t.Assignment {
			if err := q.replicas(a.Replicas); err != nil && more > 0 {
				return err
			}
		}
	}
	return q.s.b.CreatePartitions(q.ctx, t.Topic, t.Count, validateOnly)
}
