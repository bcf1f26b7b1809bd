package assign

import (
	"encoding/binary"
	"github.com/seglog/seglog/internal/javahash"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Sticky keeps what members have as far as the balance allows (KIP-54). Members
// give up all before they rejoin and say in their user data what they had.
type Sticky struct{}

// Name is "sticky".
func (Sticky) Name() string { return "sticky" }

// Cooperative is false.
func (Sticky) Cooperative() bool { return false }

// Assign implements Assignor.
func (Sticky) Assign(topics Topics, members []Member) map[string][]TopicPartition {
	result, _ := assignSticky(newProblem(topics, members), stickyClaim)
	return result
}

// UserData is a StickyAssignorUserData of version 1, nil before the first
// assignment.
func (Sticky) UserData(owned []TopicPartition, generation int32) []byte {
	if generation == NoGeneration {
		return nil
	}
	m := kmsg.NewStickyMemberMetadata()
	m.Generation = generation
	topics, names := make(map[string][]int32), []string(nil)
	for _, t := range grouped(owned) {
		topics[t.name], names = t.partitions, append(names, t.name)
	}
	for _, name := range javahash.Order(names) {
		t := kmsg.NewStickyMemberMetadataCurrentAssignment()
		t.Topic, t.Partitions = name, topics[name]
		m.CurrentAssignment = append(m.CurrentAssignment, t)
	}
	return m.AppendTo(nil)
}

// claim is what a member says it had, and in which generation.
type claim struct {
	partitions []TopicPartition
	generation int32
	known      bool // it named a generation
}

// stickyClaim reads the user data: what cannot be read claims nothing.
func stickyClaim(s Subscription) claim {
	if len(s.UserData) == 0 {
		return claim{generation: NoGeneration}
	}
	m := kmsg.NewStickyMemberMetadata()
	if err := m.ReadFrom(s.UserData); err != nil {
		return claim{generation: NoGeneration, known: true}
	}
	c := claim{generation: m.Generation, known: hasGeneration(m, s.UserData)}
	for _, t := range m.CurrentAssignment {
		for _, p := range t.Partitions {
			c.partitions = append(c.partitions, TopicPartition{t.Topic, p})
		}
	}
	return c
}

// hasGeneration tells version 1 from version 0, which ends before it.
func hasGeneration(m kmsg.StickyMemberMetadata, b []byte) bool {
	size := 4
	for _, t := range m.CurrentAssignment {
		size += 2 + len(t.Topic) + 4 + 4*len(t.Partitions)
	}
	return len(b) >= size+4
}

// CooperativeSticky is Sticky in two steps (KIP-429): a partition that is to go
// from one member to another is left out until its owner, which keeps all it
// still may have while it rejoins, has given it up and rejoined again.
type CooperativeSticky struct{}

// Name is "cooperative-sticky".
func (CooperativeSticky) Name() string { return "cooperative-sticky" }

// Cooperative is true.
func (CooperativeSticky) Cooperative() bool { return true }

// UserData is the generation.
func (CooperativeSticky) UserData(_ []TopicPartition, generation int32) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(generation))
}

// Assign implements Assignor.
func (CooperativeSticky) Assign(topics Topics, members []Member) map[string][]TopicPartition {
	p := newProblem(topics, members)
	result, moving := assignSticky(p, cooperativeClaim)
	if moving == nil {
		moving = transferred(p, result)
	}
	for id, list := range result {
		var kept []TopicPartition
		for _, tp := range list {
			if to, ok := moving[tp]; !ok || to != id {
				kept = append(kept, tp)
			}
		}
		result[id] = kept
	}
	return result
}

// cooperativeClaim reads the fields of the subscription. Before version 2 the
// generation is in the user data.
func cooperativeClaim(s Subscription) claim {
	c := claim{partitions: s.Owned, generation: s.Generation, known: true}
	switch {
	case s.Generation > NoGeneration:
	case s.UserData == nil:
		c.known = false
	case len(s.UserData) >= 4:
		c.generation = int32(binary.BigEndian.Uint32(s.UserData))
	}
	return c
}

// transferred are the partitions which one member has and another was given.
func transferred(p problem, result map[string][]TopicPartition) map[TopicPartition]string {
	given, owners := make(map[TopicPartition]string), make(map[TopicPartition][]string)
	for id, list := range result {
		for _, tp := range list {
			given[tp] = id
		}
	}
	for _, m := range p.members {
		for _, tp := range m.Owned {
			owners[tp] = append(owners[tp], m.ID)
		}
	}
	moving := make(map[TopicPartition]string)
	for tp, to := range given {
		others, own := false, false
		for _, o := range owners[tp] {
			others, own = others || o != to, own || o == to
		}
		if others && !own {
			moving[tp] = to
		}
	}
	return moving
}

// claims are what members had, sorted out.
type claims struct {
	of         []claim                     // as members said, in the order of the problem's
	owned      map[string][]TopicPartition // of partitions that exist, each with one owner
	contested  map[TopicPartition]bool     // those which two claimed in one generation
	equal      bool                        // all members subscribe to the same topics
	generation int32                       // the highest
}

func (p problem) claims(of func(Subscription) claim) claims {
	c := claims{owned: make(map[string][]TopicPartition), contested: make(map[TopicPartition]bool), equal: true, generation: NoGeneration}
	owner := make(map[TopicPartition]Member)
	for _, m := range p.members {
		c.equal = c.equal && sameTopics(m.Topics, p.members[0].Topics)
		said := of(m.Subscription)
		c.of = append(c.of, said)
		c.generation = max(c.generation, said.generation)
		c.owned[m.ID] = nil
		for _, tp := range said.partitions {
			if !p.exists(tp) {
				continue
			}
			other, taken := owner[tp]
			theirs := max(other.Generation, NoGeneration)
			switch {
			case !taken:
				c.owned[m.ID] = append(c.owned[m.ID], tp)
			case other.ID == m.ID:
				continue
			case said.generation < theirs:
				continue
			case said.generation == theirs:
				c.contested[tp] = true
				c.owned[other.ID] = without(c.owned[other.ID], tp)
			default:
				c.owned[other.ID] = without(c.owned[other.ID], tp)
				c.owned[m.ID] = append(c.owned[m.ID], tp)
			}
			owner[tp] = m
		}
	}
	return c
}

func sameTopics(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	in := make(map[string]bool, len(a))
	for _, t := range a {
		in[t] = true
	}
	for _, t := range b {
		if !in[t] {
			return false
		}
	}
	return true
}

func without(list []TopicPartition, tp TopicPartition) []TopicPartition {
	var rest []TopicPartition
	for _, e := range list {
		if e != tp {
			rest = append(rest, e)
		}
	}
	return rest
}

// assignSticky assigns and says which partitions go to another member than the
// one that has them, nil if that was not kept track of.
func assignSticky(p problem, of func(Subscription) claim) (result map[string][]TopicPartition, moving map[TopicPartition]string) {
	if len(p.members) == 0 {
		return p.result(), nil
	}
	c, racks := p.claims(of), newRackInfo(p)
	if c.equal {
		return newConstrained(p, c, racks).assign()
	}
	return newGeneral(p, c, racks).assign(), nil
}
