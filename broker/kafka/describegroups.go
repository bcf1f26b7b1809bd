package kafka

import (
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// groupOperations are what everybody may do with a group, a bit for each.
const groupOperations = 3400

func serveDescribeGroups(q *call, req *kmsg.DescribeGroupsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDescribeGroupsResponse()
	for _, id := range req.Groups {
		var d group.Description
		err := q.s.b.Group(id, func(c *group.Coordinator, _ time.Time) { d = c.Describe(id) })
		if err != nil {
			d = group.Description{Code: group.Code(code(err)), Group: id, State: group.Dead}
		}
		resp.Groups = append(resp.Groups, q.described(d, req.IncludeAuthorizedOperations))
	}
	return resp, nil
}

func (q *call) described(d group.Description, operations bool) kmsg.DescribeGroupsResponseGroup {
	a := kmsg.NewDescribeGroupsResponseGroup()
	a.Group, a.ErrorCode, a.AuthorizedOperations = d.Group, int16(d.Code), math.MinInt32
	if d.Code != group.None {
		return a
	}
	a.State, a.ProtocolType, a.Protocol = d.State.String(), d.ProtocolType, d.Protocol
	if d.State == group.Dead && q.version >= 6 {
		a.ErrorCode, a.ErrorMessage = int16(group.GroupIDNotFound), kmsg.StringPtr(fmt.Sprintf("there is no group %q", d.Group))
	}
	if operations && a.ErrorCode == 0 {
		a.AuthorizedOperations = groupOperations
	}
	for _, m := range d.Members {
		one := kmsg.NewDescribeGroupsResponseGroupMember()
		one.MemberID, one.InstanceID, one.ClientID, one.ClientHost = m.MemberID, m.InstanceID, m.ClientID, m.ClientHost
		one.ProtocolMetadata, one.MemberAssignment = m.Metadata, m.Assignment
		a.Members = append(a.Members, one)
	}
	return a
}
