package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// serveFindCoordinator: the coordinator of everything is this broker. The first
// who asks for a group's has the topic created that groups are kept in.
func serveFindCoordinator(q *call, req *kmsg.FindCoordinatorRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	const group, transaction = 0, 1
	var err error
	if kind := req.CoordinatorType; kind != group && kind != transaction {
		err = kerr.InvalidRequest
	} else if kind == group && (q.version < 4 || len(req.CoordinatorKeys) > 0) {
		if _, failure := q.s.b.OffsetsTopic(q.ctx); failure != nil {
			q.s.logger.Error("kafka: there is no coordinator of groups", "error", failure)
			err = kerr.CoordinatorNotAvailable
		}
	}
	host, port := q.s.address(q.c)
	if q.version >= 4 {
		for _, key := range req.CoordinatorKeys {
			c := kmsg.NewFindCoordinatorResponseCoordinator()
			c.Key, c.NodeID, c.Host, c.Port, c.ErrorMessage = key, q.s.b.NodeID(), host, port, kmsg.StringPtr("")
			if err != nil {
				c.NodeID, c.Host, c.Port, c.ErrorCode, c.ErrorMessage = -1, "", -1, code(err), detail(err)
			}
			resp.Coordinators = append(resp.Coordinators, c)
		}
		return resp, nil
	}
	resp.NodeID, resp.Host, resp.Port, resp.ErrorMessage = q.s.b.NodeID(), host, port, kmsg.StringPtr("NONE")
	if err != nil {
		resp.NodeID, resp.Host, resp.Port, resp.ErrorCode, resp.ErrorMessage = -1, "", -1, code(err), detail(err)
	}
	return resp, nil
}
