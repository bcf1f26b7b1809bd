package assign

import (
	"maps"
	"slices"
)

// Range gives of each topic consecutive partitions to the members in order, the
// first ones one more where it does not come out even. Topics with the same
// members and equally many partitions are so divided alike. Racks count as KIP-881
// says: first what is on a member's rack, without changing how many it gets.
type Range struct{}

// Name is "range".
func (Range) Name() string { return "range" }

// UserData is nil.
func (Range) UserData([]TopicPartition, int32) []byte { return nil }

// Cooperative is false: members give up all before they rejoin.
func (Range) Cooperative() bool { return false }

// Assign implements Assignor.
func (Range) Assign(topics Topics, members []Member) map[string][]TopicPartition {
	p := newProblem(topics, members)
	result, ordered := p.result(), p.inOrder()
	var states []*ranged
	matter := false
	for _, name := range p.names {
		s := newRanged(name, p.topics[name], ordered)
		states = append(states, s)
		matter = matter || s.racksMatter
	}
	if matter {
		for _, together := range copartitioned(states) {
			if len(together) > 1 {
				assignTogether(together, result)
			} else if together[0].racksMatter {
				together[0].assign(together[0].matches, result)
			}
		}
	}
	for _, s := range states {
		s.assign(func(string, int32) bool { return true }, result)
	}
	if matter {
		for _, list := range result {
			slices.SortFunc(list, byTopic)
		}
	}
	return result
}

// ranged is a topic on its way to be divided.
type ranged struct {
	topic       string
	members     []string
	rack        map[string]string // of members that have one
	racks       []map[string]bool // of partitions, empty if no member has one
	racksMatter bool
	left        []int32
	got         map[string]int
	each, extra int // partitions for each member, and how many more get one more
}

func newRanged(name string, t Topic, ordered []Member) *ranged {
	s := &ranged{topic: name, rack: make(map[string]string), got: make(map[string]int)}
	ofMembers := make(map[string]bool)
	for _, m := range ordered {
		if slices.Contains(m.Topics, name) {
			s.members = append(s.members, m.ID)
			if m.Rack != "" {
				s.rack[m.ID], ofMembers[m.Rack] = m.Rack, true
			}
		}
	}
	s.each, s.extra = int(t.Partitions)/len(s.members), int(t.Partitions)%len(s.members)
	for i := range t.Partitions {
		s.left = append(s.left, i)
		if len(ofMembers) > 0 {
			s.racks = append(s.racks, t.racksOf(i))
		}
	}
	s.racksMatter = racksMatter(ofMembers, s.racks)
	return s
}

// matches says that a member has no rack or the partition a replica on it.
func (s *ranged) matches(member string, partition int32) bool {
	rack, ok := s.rack[member]
	return !ok || s.racks[partition][rack]
}

// room is how many partitions a member may still get.
func (s *ranged) room(member string) int {
	return max(0, s.each+min(1, s.extra)-s.got[member])
}

func (s *ranged) give(member string, partitions []int32, result map[string][]TopicPartition) {
	for _, i := range partitions {
		result[member] = append(result[member], TopicPartition{s.topic, i})
		s.left = slices.DeleteFunc(s.left, func(l int32) bool { return l == i })
	}
	s.got[member] += len(partitions)
	if s.got[member] > s.each {
		s.extra--
	}
}

// assign gives each member in order what it may have of what is left.
func (s *ranged) assign(may func(member string, partition int32) bool, result map[string][]TopicPartition) {
	for _, m := range s.members {
		var take []int32
		room := s.room(m)
		for _, i := range s.left {
			if len(take) == room {
				break
			}
			if may(m, i) {
				take = append(take, i)
			}
		}
		if len(take) > 0 {
			s.give(m, take, result)
		}
	}
}

// copartitioned are the topics which have the same members and equally many
// partitions, in the order of their first ones.
func copartitioned(states []*ranged) [][]*ranged {
	var groups [][]*ranged
	for _, s := range states {
		at := slices.IndexFunc(groups, func(g []*ranged) bool {
			return len(g[0].racks) == len(s.racks) && maps.Equal(g[0].rack, s.rack) &&
				slices.Equal(g[0].members, s.members)
		})
		if at < 0 {
			groups = append(groups, []*ranged{s})
		} else {
			groups[at] = append(groups[at], s)
		}
	}
	return groups
}

// assignTogether gives the partitions of one number of all these topics to the
// first member that is on a rack of each.
func assignTogether(states []*ranged, result map[string][]TopicPartition) {
	members := slices.Clone(states[0].members)
	for i := range int32(len(states[0].racks)) {
		at := slices.IndexFunc(members, func(m string) bool {
			return !slices.ContainsFunc(states, func(s *ranged) bool { return !s.matches(m, i) || s.room(m) == 0 })
		})
		if at < 0 {
			continue
		}
		m := members[at]
		for _, s := range states {
			s.give(m, []int32{i}, result)
		}
		if !slices.ContainsFunc(states, func(s *ranged) bool { return s.room(m) > 0 }) {
			members = slices.Delete(members, at, at+1)
		}
	}
}
