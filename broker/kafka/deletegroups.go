package kafka

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// serveDeleteGroups deletes groups without members, each of which is answered
// for once.
func serveDeleteGroups(q *call, req *kmsg.DeleteGroupsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDeleteGroupsResponse()
	asked := make(map[string]bool)
	for _, id := range req.Groups {
		if asked[id] {
			continue
		}
		asked[id] = true
		got, err := coordinated(q, id, func(c *group.Coordinator, now time.Time, reply func([]group.Deleted)) {
			c.Delete(now, []string{id}, reply)
		})
		if err == errGone {
			return nil, err
		}
		a := kmsg.NewDeleteGroupsResponseGroup()
		a.Group = id
		if a.ErrorCode = code(err); err == nil {
			a.ErrorCode = int16(got[0].Code)
		}
		if a.ErrorCode != 0 {
			a.ErrorMessage = kmsg.StringPtr(fmt.Sprintf("group %q: %v", id, group.Code(a.ErrorCode)))
		}
		resp.Groups = append(resp.Groups, a)
	}
	return resp, nil
}
