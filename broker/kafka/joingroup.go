package kafka

import (
	"bytes"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// serveJoinGroup is answered when the group's members are all there.
func serveJoinGroup(q *call, req *kmsg.JoinGroupRequest) (kmsg.Response, error) {
	r := group.JoinRequest{Version: q.version, Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID,
		ClientID: q.clientID, ClientHost: q.clientHost(),
		SessionTimeout: millis(req.SessionTimeoutMillis), RebalanceTimeout: millis(req.RebalanceTimeoutMillis),
		ProtocolType: req.ProtocolType}
	if q.version == 0 {
		r.RebalanceTimeout = r.SessionTimeout
	}
	for _, p := range req.Protocols { // the request's bytes are used again
		r.Protocols = append(r.Protocols, group.Protocol{Name: p.Name, Metadata: bytes.Clone(p.Metadata)})
	}
	got, err := coordinated(q, req.Group, func(c *group.Coordinator, now time.Time, reply func(group.JoinResponse)) { c.Join(now, r, reply) })
	switch {
	case err == errGone:
		return nil, err
	case err != nil:
		got = group.JoinResponse{Code: group.Code(code(err)), Generation: -1, MemberID: req.MemberID}
	}
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.ErrorCode, resp.Generation = int16(got.Code), got.Generation
	resp.ProtocolType, resp.Protocol = orNull(got.ProtocolType, resp.ErrorCode), orNull(got.Protocol, resp.ErrorCode)
	resp.LeaderID, resp.MemberID, resp.SkipAssignment = got.Leader, got.MemberID, got.SkipAssignment
	for _, m := range got.Members {
		one := kmsg.NewJoinGroupResponseMember()
		one.MemberID, one.InstanceID, one.ProtocolMetadata = m.MemberID, m.InstanceID, m.Metadata
		resp.Members = append(resp.Members, one)
	}
	return resp, nil
}
