package differential

import "github.com/twmb/franz-go/pkg/kmsg"

// step is one request of a client. It is made for each of the brokers when it is
// sent, with what the client knows there; nil if there is nothing to be asked.
type step struct {
	client int
	make   func(*world, *client) kmsg.Request
	parks  bool // the answer may wait for other requests
}

// conversation is what a seed gives.
type conversation struct {
	seed    uint64
	clients int
	steps   []step
}

// notes tells whether a request has a controller note something, which takes
// Kafka some time after its answer.
func notes(req kmsg.Request) bool {
	switch req := req.(type) {
	case *kmsg.CreateTopicsRequest, *kmsg.DeleteTopicsRequest, *kmsg.CreatePartitionsRequest,
		*kmsg.AlterConfigsRequest, *kmsg.IncrementalAlterConfigsRequest:
		return true
	case *kmsg.MetadataRequest:
		return req.AllowAutoTopicCreation || req.Version < 4
	}
	return false
}

// silent tells whether a request has no answer.
func silent(req kmsg.Request) bool {
	produce, ok := req.(*kmsg.ProduceRequest)
	return ok && produce.Acks == 0
}
