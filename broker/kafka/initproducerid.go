package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// serveInitProducerID gives an idempotent producer an id of its own. A timeout or
// a pair of id and epoch mean nothing without a transactional id: clients send
// all sorts of them.
func serveInitProducerID(q *call, req *kmsg.InitProducerIDRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	var err error
	switch {
	case q.version >= 3 && (req.ProducerID < 0) != (req.ProducerEpoch < 0),
		req.TransactionalID != nil && *req.TransactionalID == "":
		err = kerr.InvalidRequest
	case req.TransactionalID != nil: // there are no transactions
		err = kerr.TransactionalIDAuthorizationFailed
	default:
		if resp.ProducerID, err = q.s.b.NewProducerID(); err == nil {
			resp.ProducerEpoch = 0
		}
	}
	resp.ErrorCode = code(err)
	return resp, nil
}
