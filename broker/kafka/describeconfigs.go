package kafka

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/internal/kafkadir"
)

func serveDescribeConfigs(q *call, req *kmsg.DescribeConfigsRequest) (kmsg.Response, error) {
	resp := kmsg.NewPtrDescribeConfigsResponse()
	for _, r := range req.Resources {
		a := kmsg.NewDescribeConfigsResponseResource()
		a.ResourceType, a.ResourceName = r.ResourceType, r.ResourceName
		a.Configs = []kmsg.DescribeConfigsResponseResourceConfig{}
		values, err := q.configOf(r.ResourceType, r.ResourceName)
		a.ErrorCode, a.ErrorMessage = code(err), detail(err)
		if err == nil {
			a.ErrorMessage = kmsg.StringPtr("")
		}
		for _, v := range values {
			if len(r.ConfigNames) == 0 || slices.Contains(r.ConfigNames, v.Name) {
				a.Configs = append(a.Configs, configValue(v, req))
			}
		}
		resp.Resources = append(resp.Resources, a)
	}
	return resp, nil
}

// configOf is the configuration of a topic or a broker. The broker without a name
// stands for what was altered of all.
func (q *call) configOf(kind kmsg.ConfigResourceType, name string) ([]broker.Value, error) {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		if !kafkadir.ValidTopic(name) {
			return nil, failed(kerr.InvalidTopicException, fmt.Sprintf("%q is no name of a topic", name))
		}
		t, err := q.s.b.Topic(name)
		if err != nil {
			return nil, err
		}
		return q.s.b.TopicConfig(t), nil
	case kmsg.ConfigResourceTypeBroker:
		all, err := q.brokerNamed(name)
		if err != nil {
			return nil, err
		}
		if all {
			return q.s.b.ClusterConfig(), nil
		}
		return q.s.b.BrokerConfig(), nil
	}
	return nil, failed(kerr.InvalidRequest, fmt.Sprintf("configurations of kind %d are not served: 2 is a topic's, 4 a broker's", kind))
}

// brokerNamed says whether a broker's name stands for all brokers; if it is not
// this one's either that is an error.
func (q *call) brokerNamed(name string) (all bool, err error) {
	if name == "" {
		return true, nil
	}
	id, err := strconv.ParseInt(name, 10, 32)
	switch {
	case err != nil:
		return false, failed(kerr.InvalidRequest, fmt.Sprintf("the name of a broker is its id, not %q", name))
	case int32(id) != q.s.b.NodeID():
		return false, failed(kerr.InvalidRequest, fmt.Sprintf("this is broker %d, not %d", q.s.b.NodeID(), id))
	}
	return false, nil
}

func configValue(v broker.Value, req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	c.Name, c.Value, c.ReadOnly, c.Source = v.Name, kmsg.StringPtr(understood(v.Name, v.Text)), v.ReadOnly, kmsg.ConfigSource(v.Source)
	c.ConfigType = kmsg.ConfigType(v.Kind)
	c.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	if req.IncludeSynonyms {
		for _, o := range v.Others {
			s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			s.Name, s.Value, s.Source = o.Name, kmsg.StringPtr(understood(o.Name, o.Text)), kmsg.ConfigSource(o.Source)
			c.ConfigSynonyms = append(c.ConfigSynonyms, s)
		}
	}
	if req.IncludeDocumentation {
		c.Documentation = kmsg.StringPtr(v.Doc)
	}
	return c
}

// understood is a value as it is taken: a policy that is named twice is told once
// (KIP-1161).
func understood(name, text string) string {
	if name != "cleanup.policy" {
		return text
	}
	var policies []string
	for _, p := range broker.Elements(text) {
		if !slices.Contains(policies, p) {
			policies = append(policies, p)
		}
	}
	return strings.Join(policies, ",")
}
