package assign_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seglog/seglog/group/assign"
)

// group is a random one that is assigned round after round, as its members
// would: what a member has it says when it joins again.
type group struct {
	assignor   assign.Assignor
	topics     assign.Topics
	members    []assign.Member
	generation int32
	next       int
}

func drawGroup(t *rapid.T, a assign.Assignor) *group {
	g := &group{assignor: a, topics: make(assign.Topics)}
	racks := rapid.IntRange(0, 3).Draw(t, "racks")
	for i := range rapid.IntRange(1, 4).Draw(t, "topics") {
		topic := assign.Topic{Partitions: rapid.Int32Range(1, 8).Draw(t, "partitions")}
		for range topic.Partitions {
			if racks > 0 {
				topic.Racks = append(topic.Racks, []string{fmt.Sprint("r", rapid.IntRange(1, racks).Draw(t, "replica"))})
			}
		}
		g.topics[fmt.Sprint("t", i)] = topic
	}
	equal := rapid.Bool().Draw(t, "equal")
	for range rapid.IntRange(1, 6).Draw(t, "members") {
		g.join(t, equal, racks)
	}
	return g
}

func (g *group) join(t *rapid.T, equal bool, racks int) {
	g.next++
	m := assign.Member{ID: fmt.Sprint("m", g.next)}
	m.Generation = assign.NoGeneration
	if racks > 0 && rapid.Bool().Draw(t, "racked") {
		m.Rack = fmt.Sprint("r", rapid.IntRange(1, racks).Draw(t, "rack"))
	}
	for i := range len(g.topics) {
		if equal || rapid.Bool().Draw(t, "subscribed") {
			m.Topics = append(m.Topics, fmt.Sprint("t", i))
		}
	}
	if !equal && rapid.Bool().Draw(t, "missing") {
		m.Topics = append(m.Topics, "missing")
	}
	m.UserData = g.assignor.UserData(nil, m.Generation)
	g.members = append(g.members, m)
}

// round assigns and lets members have what they got.
func (g *group) round() map[string][]assign.TopicPartition {
	got := g.assignor.Assign(g.topics, g.members)
	g.generation++
	for i := range g.members {
		m := &g.members[i]
		m.Owned, m.Generation = got[m.ID], g.generation
		m.UserData = g.assignor.UserData(m.Owned, m.Generation)
	}
	return got
}

// settle assigns until nothing changes: two rounds are the cooperative
// protocol's, a third one must find nothing to do.
func (g *group) settle(t require.TestingT) map[string][]assign.TopicPartition {
	g.round()
	got := g.round()
	if g.assignor.Cooperative() {
		got = g.round()
	}
	return got
}

// restless says that the group may go on moving partitions: what a member has
// off its rack is dealt anew in each round, as in Kafka, and a cooperative member
// gives it up for that.
func (g *group) restless() bool {
	return g.assignor.Cooperative() && slices.ContainsFunc(g.members, func(m assign.Member) bool { return m.Rack != "" })
}

func subscribes(m assign.Member, topic string) bool { return slices.Contains(m.Topics, topic) }

// checkWhole: every partition that somebody subscribes to has exactly one
// owner, and that one subscribes to it. With left, some may have none.
func (g *group) checkWhole(t require.TestingT, got map[string][]assign.TopicPartition, mayLack bool) {
	owner := make(map[assign.TopicPartition]string)
	for _, m := range g.members {
		for _, tp := range got[m.ID] {
			require.Empty(t, owner[tp], "%v has two owners", tp)
			require.True(t, subscribes(m, tp.Topic), "%s does not subscribe to %v", m.ID, tp)
			require.Less(t, tp.Partition, g.topics[tp.Topic].Partitions)
			owner[tp] = m.ID
		}
	}
	require.Len(t, got, len(g.members), "each member has an entry")
	if mayLack {
		return
	}
	for name, topic := range g.topics {
		if !slices.ContainsFunc(g.members, func(m assign.Member) bool { return subscribes(m, name) }) {
			continue
		}
		for i := range topic.Partitions {
			require.NotEmpty(t, owner[assign.TopicPartition{Topic: name, Partition: i}], "%s-%d has no owner", name, i)
		}
	}
}

// checkBalance: range differs by at most one per topic; the sticky ones leave no
// partition with an owner that has two more than another subscriber;
// roundrobin, of equal subscriptions, differs by at most one.
func (g *group) checkBalance(t require.TestingT, got map[string][]assign.TopicPartition) {
	equal := !slices.ContainsFunc(g.members, func(m assign.Member) bool { return !slices.Equal(m.Topics, g.members[0].Topics) })
	switch g.assignor.Name() {
	case "range":
		for name := range g.topics {
			low, high := 1<<30, 0
			for _, m := range g.members {
				if subscribes(m, name) {
					n := 0
					for _, tp := range got[m.ID] {
						if tp.Topic == name {
							n++
						}
					}
					low, high = min(low, n), max(high, n)
				}
			}
			require.LessOrEqual(t, high-min(low, high), 1, "topic %s", name)
		}
	case "roundrobin":
		if equal {
			g.checkEven(t, got)
		}
	default:
		if equal {
			g.checkEven(t, got)
		}
		for _, m := range g.members {
			for _, tp := range got[m.ID] {
				for _, o := range g.members {
					if subscribes(o, tp.Topic) {
						require.LessOrEqual(t, len(got[m.ID]), len(got[o.ID])+1, "%v is %s's, %s has fewer", tp, m.ID, o.ID)
					}
				}
			}
		}
	}
}

func (g *group) checkEven(t require.TestingT, got map[string][]assign.TopicPartition) {
	low, high := 1<<30, 0
	for _, list := range got {
		low, high = min(low, len(list)), max(high, len(list))
	}
	require.LessOrEqual(t, high-low, 1)
}

func each(t *testing.T, f func(t *rapid.T, g *group)) {
	for name, a := range assign.Assignors() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { f(t, drawGroup(t, a)) })
		})
	}
}

// TestEveryPartitionHasOneOwner, from the first round on.
func TestEveryPartitionHasOneOwner(t *testing.T) {
	each(t, func(t *rapid.T, g *group) {
		g.checkWhole(t, g.round(), false)
		if !g.restless() {
			g.checkBalance(t, g.settle(t))
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			g.change(t)
			g.checkWhole(t, g.round(), g.assignor.Cooperative())
			got := g.settle(t)
			g.checkWhole(t, got, g.restless())
			if !g.restless() {
				g.checkBalance(t, got)
			}
		}
	})
}

// change lets members come and go, topics grow, come and go.
func (g *group) change(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "change") {
	case 0:
		g.join(t, rapid.Bool().Draw(t, "all topics"), 0)
	case 1:
		if len(g.members) > 1 {
			at := rapid.IntRange(0, len(g.members)-1).Draw(t, "leaves")
			g.members = slices.Delete(g.members, at, at+1)
		}
	case 2:
		name := fmt.Sprint("t", rapid.IntRange(0, len(g.topics)).Draw(t, "topic"))
		topic := g.topics[name]
		topic.Partitions += rapid.Int32Range(-topic.Partitions, 3).Draw(t, "more or fewer")
		g.topics[name] = topic
	case 3:
		m := &g.members[rapid.IntRange(0, len(g.members)-1).Draw(t, "member")]
		m.Topics = []string{fmt.Sprint("t", rapid.IntRange(0, len(g.topics)-1).Draw(t, "only"))}
		if g.assignor.Cooperative() {
			m.Owned = slices.DeleteFunc(m.Owned, func(tp assign.TopicPartition) bool { return !subscribes(*m, tp.Topic) })
		}
	}
}

// TestSettled: a group in which nothing changes keeps its assignment. (With
// racks it may not, as in Kafka: what a member has off its rack is dealt anew.)
func TestSettled(t *testing.T) {
	each(t, func(t *rapid.T, g *group) {
		for i := range g.members {
			g.members[i].Rack = ""
		}
		first := g.settle(t)
		for id, list := range g.round() {
			require.ElementsMatch(t, first[id], list, id)
		}
	})
}

// TestLeavingMovesOnlyWhatWasLeft: when a member leaves, the others of a sticky
// group with the same subscriptions keep what they have.
func TestLeavingMovesOnlyWhatWasLeft(t *testing.T) {
	for _, a := range []assign.Assignor{assign.Sticky{}, assign.CooperativeSticky{}} {
		t.Run(a.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := &group{assignor: a, topics: assign.Topics{}}
				for i := range rapid.IntRange(1, 4).Draw(t, "topics") {
					g.topics[fmt.Sprint("t", i)] = assign.Topic{Partitions: rapid.Int32Range(1, 8).Draw(t, "partitions")}
				}
				for range rapid.IntRange(2, 7).Draw(t, "members") {
					g.join(t, true, 0)
				}
				before := g.settle(t)
				at := rapid.IntRange(0, len(g.members)-1).Draw(t, "leaves")
				g.members = slices.Delete(g.members, at, at+1)
				after := g.round()
				for _, m := range g.members {
					require.Subset(t, after[m.ID], before[m.ID], m.ID)
				}
				g.checkWhole(t, after, false)
			})
		})
	}
}

// TestCooperativeMovesNothingThatIsOwned: no partition is given to a member
// while another has it.
func TestCooperativeMovesNothingThatIsOwned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, assign.CooperativeSticky{})
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			owner := make(map[assign.TopicPartition]string)
			for _, m := range g.members {
				for _, tp := range m.Owned {
					owner[tp] = m.ID
				}
			}
			for id, list := range g.round() {
				for _, tp := range list {
					if o, owned := owner[tp]; owned {
						require.Equal(t, o, id, "%v is %s's", tp, o)
					}
				}
			}
			g.change(t)
		}
	})
}

// TestOrderDoesNotMatter: the order in which members are listed decides nothing
// (their ids here are in buckets of their own).
func TestOrderDoesNotMatter(t *testing.T) {
	each(t, func(t *rapid.T, g *group) {
		g.round()
		g.change(t)
		want := g.assignor.Assign(g.topics, g.members)
		slices.Reverse(g.members)
		require.Equal(t, want, g.assignor.Assign(g.topics, g.members))
	})
}
