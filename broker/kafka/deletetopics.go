package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

func serveDeleteTopics(q *call, req *kmsg.DeleteTopicsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDeleteTopicsResponse()
	asked := req.Topics
	for _, name := range req.TopicNames {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		asked = append(asked, t)
	}
	// All are looked up before the first is deleted: a topic that is named twice,
	// by name or by id, is not deleted.
	var list []*deletion
	byName, byID := make(map[string]*deletion), make(map[broker.TopicID]*deletion)
	times := make(map[any]int)
	for _, t := range asked {
		d := q.deletion(t)
		if name := t.Topic; name != nil && t.TopicID == (broker.TopicID{}) {
			times[*name]++
			if first := byName[*name]; first != nil {
				first.err = failed(kerr.InvalidRequest, "the topic is in the request more than once")
				continue
			}
			byName[*name] = d
		} else if name == nil && t.TopicID != (broker.TopicID{}) {
			times[t.TopicID]++
			if first := byID[t.TopicID]; first != nil {
				first.err = failed(kerr.InvalidRequest, "the topic is in the request more than once")
				continue
			}
			byID[t.TopicID] = d
		}
		list = append(list, d)
	}
	if q.s.b.ConfigBool("delete.topic.enable") && outOfTime(req.TimeoutMillis, times) {
		for _, t := range asked {
			resp.Topics = append(resp.Topics, q.deleteTopic(&deletion{asked: t, err: kerr.RequestTimedOut}))
		}
		return resp, nil
	}
	for _, d := range list {
		if d.topic == nil || d.err != nil || d.asked.Topic == nil {
			continue
		}
		if other := byID[d.topic.ID()]; other != nil { // named both ways
			other.err = failed(kerr.InvalidRequest, "the topic is in the request by its name and by its id")
			other.both = true
			d.left = true
		}
	}
	for _, d := range list {
		if !d.left {
			resp.Topics = append(resp.Topics, q.deleteTopic(d))
		}
	}
	return resp, nil
}

// deletion is one topic that is to be deleted.
type deletion struct {
	asked kmsg.DeleteTopicsRequestTopic
	topic *broker.Topic
	err   error
	both  bool // named by name and by id
	left  bool // another entry stands for it
}

func (q *call) deletion(t kmsg.DeleteTopicsRequestTopic) *deletion {
	d := &deletion{asked: t}
	switch byID := t.TopicID != (broker.TopicID{}); {
	case byID && t.Topic != nil:
		d.err = failed(kerr.InvalidRequest, "a topic by its name and by its id")
	case byID:
		d.topic, d.err = q.s.b.TopicByID(t.TopicID)
	case t.Topic != nil:
		d.topic, d.err = q.s.b.Topic(*t.Topic)
	default:
		d.err = failed(kerr.InvalidRequest, "a topic by neither its name nor its id")
	}
	return d
}

func (q *call) deleteTopic(d *deletion) kmsg.DeleteTopicsResponseTopic {
	a := kmsg.NewDeleteTopicsResponseTopic()
	a.Topic, a.TopicID = d.asked.Topic, d.asked.TopicID
	if d.err == nil && !q.s.b.ConfigBool("delete.topic.enable") {
		d.err = kerr.TopicDeletionDisabled
		if q.version < 3 {
			d.err = kerr.InvalidRequest
		}
	}
	if d.err == nil {
		d.err = q.s.b.DeleteTopic(d.topic.Name())
	}
	if d.topic != nil && (d.err == nil || d.both) {
		a.Topic, a.TopicID = kmsg.StringPtr(d.topic.Name()), d.topic.ID()
	}
	a.ErrorCode, a.ErrorMessage = code(d.err), detail(d.err)
	return a
}
