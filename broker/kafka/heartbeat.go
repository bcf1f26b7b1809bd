package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

func serveHeartbeat(q *call, req *kmsg.HeartbeatRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrHeartbeatResponse()
	r := group.HeartbeatRequest{Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, Generation: req.Generation}
	err := q.s.b.Group(req.Group, func(c *group.Coordinator, now time.Time) { resp.ErrorCode = int16(c.Heartbeat(now, r)) })
	if err != nil {
		resp.ErrorCode = code(err)
	}
	return resp, nil
}
