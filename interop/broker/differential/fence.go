package differential

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// fence waits until a broker has done what its controller has agreed to. Kafka
// answers for a topic when its controller has noted it; the broker reads that
// some time later, first for what it tells about topics and then for what it has
// of them. It reads one batch of notes after the other: when a second note is
// told that was made after a first one was, what came with the first is done.
type fence struct {
	mu    sync.Mutex
	topic string
	count int
}

const raised = "retention.ms"

func newFence(b *broker) (*fence, error) {
	f := &fence{topic: fmt.Sprintf("fence-%d", started.UnixNano())}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 5, 10_000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = f.topic, 1, 1
	req.Topics = append(req.Topics, topic)
	resp, err := b.admin.ask(req)
	if err != nil {
		return nil, err
	}
	if code := resp.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode; code != 0 {
		return nil, fmt.Errorf("creating %s: %s", f.topic, errorName(code))
	}
	return f, f.pass(b)
}

func (f *fence) pass(b *broker) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range 2 {
		if err := f.raise(b); err != nil {
			return err
		}
	}
	return nil
}

// raise makes a note and waits until it is told.
func (f *fence) raise(b *broker) error {
	f.count++
	value := strconv.Itoa(1_000_000_000 + f.count)
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, f.topic
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = raised, &value
	resource.Configs = append(resource.Configs, config)
	req.Resources = append(req.Resources, resource)
	if _, err := b.admin.ask(req); err != nil {
		return err
	}
	describe := kmsg.NewPtrDescribeConfigsRequest()
	describe.Version = 1
	topic := kmsg.NewDescribeConfigsRequestResource()
	topic.ResourceType, topic.ResourceName, topic.ConfigNames = kmsg.ConfigResourceTypeTopic, f.topic, []string{raised}
	describe.Resources = append(describe.Resources, topic)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		resp, err := b.admin.ask(describe)
		if err != nil {
			return err
		}
		told := resp.(*kmsg.DescribeConfigsResponse).Resources[0]
		if len(told.Configs) == 1 && told.Configs[0].Value != nil && *told.Configs[0].Value == value {
			return nil
		}
	}
	return fmt.Errorf("%s does not tell of a configuration that it has taken", b.name)
}
