package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// serveLeaveGroup takes members out, before version 3 the one that asks.
func serveLeaveGroup(q *call, req *kmsg.LeaveGroupRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrLeaveGroupResponse()
	r := group.LeaveRequest{Group: req.Group}
	if q.version < 3 {
		r.Members = []group.Leaver{{MemberID: req.MemberID}}
	}
	for _, m := range req.Members {
		r.Members = append(r.Members, group.Leaver{MemberID: m.MemberID, InstanceID: m.InstanceID})
	}
	var left group.LeaveResponse
	if err := q.s.b.Group(req.Group, func(c *group.Coordinator, now time.Time) { left = c.Leave(now, r) }); err != nil {
		left.Code = group.Code(code(err))
	}
	resp.ErrorCode = int16(left.Code)
	for _, m := range left.Members {
		if q.version < 3 {
			if resp.ErrorCode == 0 {
				resp.ErrorCode = int16(m.Code)
			}
			continue
		}
		one := kmsg.NewLeaveGroupResponseMember()
		one.MemberID, one.InstanceID, one.ErrorCode = m.MemberID, m.InstanceID, int16(m.Code)
		resp.Members = append(resp.Members, one)
	}
	return resp, nil
}
