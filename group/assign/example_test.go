package assign_test

import (
	"fmt"
	"slices"

	"github.com/seglog/seglog/group/assign"
)

func show(a assign.Assignor, topics assign.Topics, members ...assign.Member) {
	got := a.Assign(topics, members)
	for _, m := range members {
		fmt.Print(m.ID, ":")
		for _, tp := range got[m.ID] {
			fmt.Printf(" %s-%d", tp.Topic, tp.Partition)
		}
		fmt.Println()
	}
}

func subscriber(id string, topics ...string) assign.Member {
	return assign.Member{ID: id, Subscription: assign.Subscription{Topics: topics, Generation: assign.NoGeneration}}
}

// Two consumers of two topics with three partitions each: the first one gets the
// odd partition of both.
func ExampleRange() {
	topics := assign.Topics{"t0": {Partitions: 3}, "t1": {Partitions: 3}}
	show(assign.Range{}, topics, subscriber("C0", "t0", "t1"), subscriber("C1", "t0", "t1"))
	// Output:
	// C0: t0-0 t0-1 t1-0 t1-1
	// C1: t0-2 t1-2
}

// Three consumers of which not all subscribe to all topics.
func ExampleRoundRobin() {
	topics := assign.Topics{"t0": {Partitions: 1}, "t1": {Partitions: 2}, "t2": {Partitions: 3}}
	show(assign.RoundRobin{}, topics, subscriber("C0", "t0"), subscriber("C1", "t0", "t1"), subscriber("C2", "t0", "t1", "t2"))
	// Output:
	// C0: t0-0
	// C1: t1-0
	// C2: t1-1 t2-0 t2-1 t2-2
}

// The same group under the sticky assignor, which balances what it can.
func ExampleSticky() {
	topics := assign.Topics{"t0": {Partitions: 1}, "t1": {Partitions: 2}, "t2": {Partitions: 3}}
	show(assign.Sticky{}, topics, subscriber("C0", "t0"), subscriber("C1", "t0", "t1"), subscriber("C2", "t0", "t1", "t2"))
	// Output:
	// C0: t0-0
	// C1: t1-0 t1-1
	// C2: t2-0 t2-1 t2-2
}

// A member comes. What is to go to it has an owner, so that it gets nothing in
// the first round; in the second one its owner has given it up.
func ExampleCooperativeSticky() {
	topics := assign.Topics{"t": {Partitions: 4}}
	a := assign.CooperativeSticky{}
	members := []assign.Member{subscriber("C0", "t")}
	for generation := int32(1); generation <= 3; generation++ {
		show(a, topics, members...)
		got := a.Assign(topics, members)
		for i := range members {
			m := &members[i]
			m.Owned, m.Generation = slices.Clone(got[m.ID]), generation
			m.UserData = a.UserData(m.Owned, generation)
		}
		if generation == 1 {
			members = append(members, subscriber("C1", "t"))
		}
	}
	// Output:
	// C0: t-0 t-1 t-2 t-3
	// C0: t-0 t-1
	// C1:
	// C0: t-0 t-1
	// C1: t-2 t-3
}
