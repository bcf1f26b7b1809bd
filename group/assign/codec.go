package assign

import (
	"fmt"
	"github.com/seglog/seglog/internal/javahash"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// version is the one in which subscriptions and assignments are written, as
// Kafka 4.4 does. Newer ones begin with the same fields and are read as far as
// these go.
const version = 3

// ParseSubscription reads a ConsumerProtocolSubscription. What it returns does
// not share memory with b.
func ParseSubscription(b []byte) (Subscription, error) {
	m := kmsg.NewConsumerMemberMetadata()
	if err := m.ReadFrom(b); err != nil {
		return Subscription{}, fmt.Errorf("assign: a subscription of %d bytes: %w", len(b), err)
	}
	s := Subscription{Topics: m.Topics, UserData: m.UserData, Generation: m.Generation}
	for _, t := range m.OwnedPartitions {
		for _, p := range t.Partitions {
			s.Owned = append(s.Owned, TopicPartition{t.Topic, p})
		}
	}
	if m.Rack != nil {
		s.Rack = *m.Rack
	}
	return s, nil
}

// Append appends the subscription to b, as version 3. Topics and partitions are
// written in order.
func (s Subscription) Append(b []byte) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.UserData, m.Generation = version, s.UserData, s.Generation
	m.Topics = slices.SortedFunc(slices.Values(s.Topics), javahash.Compare)
	for _, tp := range slices.SortedFunc(slices.Values(s.Owned), byTopic) {
		if n := len(m.OwnedPartitions); n == 0 || m.OwnedPartitions[n-1].Topic != tp.Topic {
			t := kmsg.NewConsumerMemberMetadataOwnedPartition()
			t.Topic = tp.Topic
			m.OwnedPartitions = append(m.OwnedPartitions, t)
		}
		last := &m.OwnedPartitions[len(m.OwnedPartitions)-1]
		last.Partitions = append(last.Partitions, tp.Partition)
	}
	if s.Rack != "" {
		m.Rack = &s.Rack
	}
	return m.AppendTo(b)
}

// AppendAssignment appends a ConsumerProtocolAssignment to b, as version 3:
// topics and their partitions in the order in which the list has them.
func AppendAssignment(b []byte, partitions []TopicPartition) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	a.Version = version
	for _, topic := range grouped(partitions) {
		t := kmsg.NewConsumerMemberAssignmentTopic()
		t.Topic, t.Partitions = topic.name, topic.partitions
		a.Topics = append(a.Topics, t)
	}
	return a.AppendTo(b)
}

// ParseAssignment reads a ConsumerProtocolAssignment. No bytes are no
// partitions: that is what the coordinator gives a member which the leader left
// out.
func ParseAssignment(b []byte) ([]TopicPartition, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("assign: an assignment of %d bytes: %w", len(b), err)
	}
	var list []TopicPartition
	for _, t := range a.Topics {
		for _, p := range t.Partitions {
			list = append(list, TopicPartition{t.Topic, p})
		}
	}
	return list, nil
}

// topicOf is a topic with some of its partitions.
type topicOf struct {
	name       string
	partitions []int32
}

// grouped are partitions by topic, in the order in which topics and partitions
// come.
func grouped(partitions []TopicPartition) []topicOf {
	var topics []topicOf
	at := make(map[string]int)
	for _, tp := range partitions {
		i, ok := at[tp.Topic]
		if !ok {
			i, at[tp.Topic] = len(topics), len(topics)
			topics = append(topics, topicOf{name: tp.Topic})
		}
		topics[i].partitions = append(topics[i].partitions, tp.Partition)
	}
	return topics
}
