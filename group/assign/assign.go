package assign

import (
	"cmp"
	"github.com/seglog/seglog/internal/javahash"
	"slices"
)

// NoGeneration is the generation of a member that has none.
const NoGeneration = -1

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// Topic is what metadata says of a topic. Partitions are from 0 to below the
// number.
type Topic struct {
	Partitions int32
	Racks      [][]string // of the replicas of each partition; shorter or nil where they are not known
}

// Topics are those that exist, by name.
type Topics map[string]Topic

// Subscription is what a member says of itself when it joins.
type Subscription struct {
	Topics     []string
	UserData   []byte           // the assignor's own
	Owned      []TopicPartition // what it has, from version 1 on
	Generation int32            // in which it got that, from version 2 on, else NoGeneration
	Rack       string           // from version 3 on, "" for none
}

// Member is one of a group, as its leader learns of it.
type Member struct {
	ID         string
	InstanceID string // group.instance.id, "" for a dynamic member
	Subscription
}

// Assignor is a strategy.
type Assignor interface {
	// Name is the name on the wire.
	Name() string
	// Assign gives each member its partitions; one without any has an entry too.
	// A topic that is not in topics is left out. It neither changes nor keeps its
	// arguments. Members have different ids.
	Assign(topics Topics, members []Member) map[string][]TopicPartition
	// UserData is what a member that has got these partitions in that generation
	// says to the assignor when it joins again; nil for nothing. A member that has
	// not got any says NoGeneration.
	UserData(owned []TopicPartition, generation int32) []byte
	// Cooperative says that members keep their partitions while they rejoin
	// (KIP-429), so that a partition must not be given to another in one step.
	Cooperative() bool
}

// Assignors are all there are, by name.
func Assignors() map[string]Assignor {
	all := make(map[string]Assignor)
	for _, a := range []Assignor{Range{}, RoundRobin{}, Sticky{}, CooperativeSticky{}} {
		all[a.Name()] = a
	}
	return all
}

// problem is an assignment to be made, in the order in which Kafka's maps are
// walked.
type problem struct {
	topics  Topics
	names   []string // of the topics which exist and somebody subscribes to
	members []Member // each topic once
	total   int      // partitions of those
}

func newProblem(topics Topics, members []Member) problem {
	p := problem{topics: make(Topics)}
	ids, byID := make([]string, 0, len(members)), make(map[string]Member, len(members))
	for _, m := range members {
		if _, twice := byID[m.ID]; !twice {
			ids = append(ids, m.ID)
		}
		m.Topics = distinct(m.Topics)
		byID[m.ID] = m
	}
	var subscribed []string
	for _, id := range javahash.Order(ids) {
		p.members = append(p.members, byID[id])
		subscribed = append(subscribed, byID[id].Topics...)
	}
	var existing []string
	for _, name := range javahash.Order(distinct(subscribed)) {
		if t := topics[name]; t.Partitions > 0 {
			existing = append(existing, name)
			p.topics[name] = t
			p.total += int(t.Partitions)
		}
	}
	p.names = javahash.Order(existing)
	return p
}

func distinct(names []string) []string {
	seen, list := make(map[string]bool, len(names)), make([]string, 0, len(names))
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// result has an entry for each member.
func (p problem) result() map[string][]TopicPartition {
	r := make(map[string][]TopicPartition, len(p.members))
	for _, m := range p.members {
		r[m.ID] = nil
	}
	return r
}

// exists says whether the partition is one to be assigned.
func (p problem) exists(tp TopicPartition) bool {
	return tp.Partition >= 0 && tp.Partition < p.topics[tp.Topic].Partitions
}

// all are the partitions of these topics in their order.
func (p problem) all(names []string) []TopicPartition {
	list := make([]TopicPartition, 0, p.total)
	for _, name := range names {
		for i := range p.topics[name].Partitions {
			list = append(list, TopicPartition{name, i})
		}
	}
	return list
}

// inOrder are the members as range and roundrobin take them: those with an
// instance id first.
func (p problem) inOrder() []Member {
	members := slices.Clone(p.members)
	slices.SortStableFunc(members, func(a, b Member) int {
		switch {
		case a.InstanceID != "" && b.InstanceID != "":
			return javahash.Compare(a.InstanceID, b.InstanceID)
		case a.InstanceID != "":
			return -1
		case b.InstanceID != "":
			return 1
		}
		return javahash.Compare(a.ID, b.ID)
	})
	return members
}

// byTopic orders by topic, then by partition.
func byTopic(a, b TopicPartition) int {
	return cmp.Or(javahash.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// byPartition orders by partition, then by topic.
func byPartition(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), javahash.Compare(a.Topic, b.Topic))
}
