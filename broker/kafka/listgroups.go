package kafka

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// serveListGroups lists the groups of all coordinators.
func serveListGroups(q *call, req *kmsg.ListGroupsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrListGroupsResponse()
	q.s.b.Groups(func(c *group.Coordinator, _ time.Time) {
		list, failure := c.List(req.StatesFilter, req.TypesFilter)
		if failure == group.NotCoordinator { // of a partition that is not served here
			return
		}
		if failure != group.None {
			resp.ErrorCode = int16(failure)
		}
		for _, g := range list {
			one := kmsg.NewListGroupsResponseGroup()
			one.Group, one.ProtocolType, one.GroupState, one.GroupType = g.Group, g.ProtocolType, g.State.String(), "classic"
			resp.Groups = append(resp.Groups, one)
		}
	})
	if resp.ErrorCode != 0 {
		resp.Groups = nil
	}
	return resp, nil
}
