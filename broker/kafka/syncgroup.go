package kafka

import (
	"bytes"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// serveSyncGroup is answered when the leader's assignment is there.
func serveSyncGroup(q *call, req *kmsg.SyncGroupRequest) (kmsg.Response, error) {
	r := group.SyncRequest{Version: q.version, Group: req.Group, MemberID: req.MemberID, InstanceID: req.InstanceID, Generation: req.Generation,
		ProtocolType: req.ProtocolType, Protocol: req.Protocol, Assignments: make(map[string][]byte)}
	for _, a := range req.GroupAssignment { // the request's bytes are used again
		r.Assignments[a.MemberID] = bytes.Clone(a.MemberAssignment)
	}
	got, err := coordinated(q, req.Group, func(c *group.Coordinator, now time.Time, reply func(group.SyncResponse)) { c.Sync(now, r, reply) })
	switch {
	case err == errGone:
		return nil, err
	case err != nil:
		got = group.SyncResponse{Code: group.Code(code(err))}
	}
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ErrorCode, resp.MemberAssignment = int16(got.Code), got.Assignment
	resp.ProtocolType, resp.Protocol = orNull(got.ProtocolType, resp.ErrorCode), orNull(got.Protocol, resp.ErrorCode)
	return resp, nil
}
