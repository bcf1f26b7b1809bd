package assign

import (
	"slices"

	"github.com/seglog/seglog/internal/javahash"
)

// RoundRobin deals the partitions of all topics, in order, to the members, in
// order, passing over those which do not subscribe to the topic.
type RoundRobin struct{}

// Name is "roundrobin".
func (RoundRobin) Name() string { return "roundrobin" }

// UserData is nil.
func (RoundRobin) UserData([]TopicPartition, int32) []byte { return nil }

// Cooperative is false.
func (RoundRobin) Cooperative() bool { return false }

// Assign implements Assignor.
func (RoundRobin) Assign(topics Topics, members []Member) map[string][]TopicPartition {
	p := newProblem(topics, members)
	result, next := p.result(), 0
	ordered := p.inOrder()
	subscribed := make([]map[string]bool, len(ordered))
	for i, m := range ordered {
		subscribed[i] = make(map[string]bool)
		for _, t := range m.Topics {
			subscribed[i][t] = true
		}
	}
	for _, tp := range p.all(slices.SortedFunc(slices.Values(p.names), javahash.Compare)) {
		for !subscribed[next][tp.Topic] {
			next = (next + 1) % len(ordered)
		}
		id := ordered[next].ID
		result[id] = append(result[id], tp)
		next = (next + 1) % len(ordered)
	}
	return result
}
