package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
)

// resource is what a configuration is of.
type resource struct {
	kind kmsg.ConfigResourceType
	name string
}

// serveAlterConfigs replaces whole configurations.
func serveAlterConfigs(q *call, req *kmsg.AlterConfigsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrAlterConfigsResponse()
	times := make(map[resource]int)
	for _, r := range req.Resources {
		times[resource{r.ResourceType, r.ResourceName}]++
	}
	for _, r := range req.Resources {
		a := kmsg.NewAlterConfigsResponseResource()
		a.ResourceType, a.ResourceName = r.ResourceType, r.ResourceName
		values := make(map[string]string)
		err := alterable(times, resource{r.ResourceType, r.ResourceName})
		for _, c := range r.Configs {
			_, twice := values[c.Name]
			switch {
			case err != nil:
			case c.Value == nil:
				err = failed(kerr.InvalidRequest, "no value for "+c.Name)
			case twice:
				err = failed(kerr.InvalidRequest, c.Name+" is there more than once")
			default:
				values[c.Name] = *c.Value
			}
		}
		if err == nil {
			err = q.replace(resource{r.ResourceType, r.ResourceName}, values, req.ValidateOnly)
		}
		a.ErrorCode, a.ErrorMessage = code(err), detail(err)
		resp.Resources = append(resp.Resources, a)
	}
	return resp, nil
}

// alterable says why a resource cannot be altered whatever the change.
func alterable(times map[resource]int, r resource) error {
	switch {
	case times[r] > 1:
		return failed(kerr.InvalidRequest, "the resource is in the request more than once")
	case r.kind == kmsg.ConfigResourceTypeTopic && r.name == "":
		return failed(kerr.InvalidRequest, "a topic without a name")
	case r.kind != kmsg.ConfigResourceTypeTopic && r.kind != kmsg.ConfigResourceTypeBroker:
		return failed(kerr.InvalidRequest, fmt.Sprintf("configurations of kind %d are not served: 2 is a topic's, 4 a broker's", r.kind))
	}
	return nil
}

func (q *call) replace(r resource, values map[string]string, validateOnly bool) error {
	if r.kind == kmsg.ConfigResourceTypeTopic {
		return q.s.b.SetTopic(r.name, values, validateOnly)
	}
	all, err := q.brokerNamed(r.name)
	if err != nil {
		return err
	}
	return q.s.b.SetBroker(all, values, validateOnly)
}

func (q *call) alter(r resource, changes []broker.Alteration, validateOnly bool) error {
	if r.kind == kmsg.ConfigResourceTypeTopic {
		return q.s.b.AlterTopic(r.name, changes, validateOnly)
	}
	all, err := q.brokerNamed(r.name)
	if err != nil {
		return err
	}
	return q.s.b.AlterBroker(all, changes, validateOnly)
}
