package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

// serveIncrementalAlterConfigs changes keys of configurations (KIP-339).
func serveIncrementalAlterConfigs(q *call, req *kmsg.IncrementalAlterConfigsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
	times := make(map[resource]int)
	for _, r := range req.Resources {
		times[resource{r.ResourceType, r.ResourceName}]++
	}
	for _, r := range req.Resources {
		a := kmsg.NewIncrementalAlterConfigsResponseResource()
		a.ResourceType, a.ResourceName = r.ResourceType, r.ResourceName
		of := resource{r.ResourceType, r.ResourceName}
		err := alterable(times, of)
		var changes []broker.Alteration
		if err == nil {
			changes, err = alterations(r.Configs)
		}
		if err == nil {
			err = q.alter(of, changes, req.ValidateOnly)
		}
		a.ErrorCode, a.ErrorMessage = code(err), detail(err)
		resp.Resources = append(resp.Resources, a)
	}
	return resp, nil
}

func alterations(list []kmsg.IncrementalAlterConfigsRequestResourceConfig) ([]broker.Alteration, error) {
	seen := make(map[string]bool)
	var changes []broker.Alteration
	for _, c := range list {
		change := broker.Alteration{Name: c.Name, Op: broker.Op(c.Op)}
		switch {
		case seen[c.Name]:
			return nil, failed(kerr.InvalidRequest, c.Name+" is there more than once")
		case c.Value != nil:
			change.Value = *c.Value
		case change.Op != broker.Delete:
			return nil, failed(kerr.InvalidRequest, "no value for "+c.Name)
		}
		seen[c.Name] = true
		changes = append(changes, change)
	}
	return changes, nil
}
