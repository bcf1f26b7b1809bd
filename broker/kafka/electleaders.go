package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// serveElectLeaders: this broker leads every partition and is its preferred
// leader, so that no election is needed.
func serveElectLeaders(q *call, req *kmsg.ElectLeadersRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrElectLeadersResponse()
	const preferred, unclean = 0, 1
	kindErr := error(nil)
	if q.version >= 1 && req.ElectionType != preferred && req.ElectionType != unclean {
		kindErr = failed(kerr.InvalidRequest, fmt.Sprintf("there is no election of kind %d: 0 is of the preferred leader, 1 unclean", req.ElectionType))
		resp.ErrorCode = code(kindErr)
	}
	if req.Topics == nil { // all of them: those that need none are not told of
		for _, t := range q.s.b.Topics() {
			answer := kmsg.NewElectLeadersResponseTopic()
			answer.Topic = t.Name()
			resp.Topics = append(resp.Topics, answer)
		}
	}
	for _, t := range req.Topics {
		answer := kmsg.NewElectLeadersResponseTopic()
		answer.Topic = t.Topic
		for _, number := range t.Partitions {
			a := kmsg.NewElectLeadersResponseTopicPartition()
			a.Partition = number
			err := kindErr
			if err == nil {
				if _, err = q.s.b.Partition(t.Topic, number); err == nil {
					err = kerr.ElectionNotNeeded
				}
			}
			a.ErrorCode, a.ErrorMessage = code(err), detail(err)
			answer.Partitions = append(answer.Partitions, a)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}
