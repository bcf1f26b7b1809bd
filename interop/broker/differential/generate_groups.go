package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func (g *generator) group() int { return pick(g, 0, 0, 0, 1) }

// who says which member a client takes itself for.
type who struct {
	id         string // its own, another client's, nobody's, none
	other      int
	generation int32 // beside its own
}

func (g *generator) who() who {
	return who{id: mostly(g, 85, "own", "other", "nobody", "none"), other: g.IntN(clients), generation: mostly[int32](g, 90, 0, 1, -1, 5)}
}

func (who who) member(w *world, c *client, group string) string {
	switch who.id {
	case "own":
		return c.member(group).id
	case "other":
		return w.clients[who.other].member(group).id
	case "nobody":
		return "nobody"
	}
	return ""
}

// static has some clients be static members, by chance of their numbers.
func (g *generator) static(by int) *string {
	if g.chance(5) {
		return some(fmt.Sprintf("i%d", g.IntN(clients)))
	}
	if by == 2 && g.chance(70) {
		return some("i2")
	}
	return nil
}

// protocols that clients may have, with the topics they subscribe to.
func (g *generator) protocols() (names []string, topics [][]int) {
	names = mostly(g, 80, []string{"range"}, []string{"range", "roundrobin"}, []string{"roundrobin", "range"}, []string{"sticky"}, []string{})
	for range names {
		topics = append(topics, pick(g, []int{0}, []int{0}, []int{0, 1}, []int{}))
	}
	return names, topics
}

func subscription(w *world, topics []int) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	for _, i := range topics {
		m.Topics = append(m.Topics, w.topic(i))
	}
	return m.AppendTo(nil)
}

func join(g *generator) step {
	return joinOf(g, g.IntN(clients), g.group(), g.who())
}

// joinOf has a client join; a timeout is either long or refused.
func joinOf(g *generator, by, group int, who who) step {
	instance := g.static(by)
	session := mostly[int32](g, 96, 300_000, 1_800_000, 5999, 0, -1, 1_800_001)
	kind := mostly(g, 95, "consumer", "connect", "")
	names, topics := g.protocols()
	s := askOf(g, by, kmsg.JoinGroup, func(w *world, c *client) *kmsg.JoinGroupRequest {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = w.group(group), session, 300_000
		req.MemberID, req.InstanceID, req.ProtocolType = who.member(w, c, req.Group), instance, kind
		for i, name := range names {
			p := kmsg.NewJoinGroupRequestProtocol()
			p.Name, p.Metadata = name, subscription(w, topics[i])
			req.Protocols = append(req.Protocols, p)
		}
		return req
	})
	s.parks = true
	return whenNotParked(s, group, who)
}

// whenNotParked leaves a step out that is in the name of a member whose own
// request waits: Kafka forgets that one, here it is answered.
func whenNotParked(s step, group int, who who) step {
	made := s.make
	s.make = func(w *world, c *client) kmsg.Request {
		id := who.member(w, c, w.group(group))
		for _, other := range w.clients {
			if other != c && other.waiting != nil && id != "" && other.member(w.group(group)).id == id {
				return nil
			}
		}
		return made(w, c)
	}
	return s
}

func syncGroup(g *generator) step {
	return syncOf(g, g.IntN(clients), g.group(), g.who())
}

func syncOf(g *generator, by, group int, who who) step {
	instance := g.static(by)
	assigns := mostly(g, 80, "all", "some", "none", "others")
	kind, protocol := mostly(g, 90, some("consumer"), nil, some("connect")), mostly(g, 90, "own", "null", "nothing")
	s := askOf(g, by, kmsg.SyncGroup, func(w *world, c *client) *kmsg.SyncGroupRequest {
		req := kmsg.NewPtrSyncGroupRequest()
		req.Group = w.group(group)
		m := c.member(req.Group)
		req.Generation, req.MemberID, req.InstanceID = m.generation+who.generation, who.member(w, c, req.Group), instance
		req.ProtocolType = kind
		switch protocol {
		case "own":
			req.Protocol = &m.protocol
		case "nothing":
			req.Protocol = some("nothing")
		}
		if !m.leader && assigns != "others" {
			return req
		}
		for i, member := range byClient(m.members) {
			if assigns == "none" || assigns == "some" && i > 0 {
				continue
			}
			a := kmsg.NewSyncGroupRequestGroupAssignment()
			a.MemberID, a.MemberAssignment = member.MemberID, assignment(w, i)
			req.GroupAssignment = append(req.GroupAssignment, a)
		}
		return req
	})
	s.parks = true
	return whenNotParked(s, group, who)
}

func assignment(w *world, i int) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	t := kmsg.NewConsumerMemberAssignmentTopic()
	t.Topic, t.Partitions = w.topic(0), []int32{int32(i)}
	a.Topics = append(a.Topics, t)
	return a.AppendTo(nil)
}

// rebalance is a group coming together: everybody joins, with the id that was
// given the first time, and then has the assignment.
func rebalance(g *generator) []step {
	group, all := g.group(), g.Perm(clients)[:1+g.IntN(clients)]
	own := who{id: "own"}
	var steps []step
	for range 2 {
		for _, by := range all {
			steps = append(steps, joinOf(g, by, group, own))
		}
	}
	for _, by := range g.Perm(clients) {
		steps = append(steps, syncOf(g, by, group, own))
	}
	return steps
}

func heartbeat(g *generator) step {
	by, group, who := g.IntN(clients), g.group(), g.who()
	instance := g.static(by)
	return askOf(g, by, kmsg.Heartbeat, func(w *world, c *client) *kmsg.HeartbeatRequest {
		req := kmsg.NewPtrHeartbeatRequest()
		req.Group = w.group(group)
		req.Generation, req.MemberID, req.InstanceID = c.member(req.Group).generation+who.generation, who.member(w, c, req.Group), instance
		return req
	})
}

func leave(g *generator) step {
	by, group := g.IntN(clients), g.group()
	type leaver struct {
		who
		instance *string
	}
	all := several(g, func() leaver {
		l := leaver{who: g.who()}
		if g.chance(25) {
			l.instance = some(fmt.Sprintf("i%d", g.IntN(clients)))
			l.id = mostly(g, 70, "none", "own", "nobody")
		}
		return l
	})
	return askOf(g, by, kmsg.LeaveGroup, func(w *world, c *client) *kmsg.LeaveGroupRequest {
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Group = w.group(group)
		req.MemberID = all[0].member(w, c, req.Group)
		for _, one := range all {
			m := kmsg.NewLeaveGroupRequestMember()
			m.MemberID, m.InstanceID = one.member(w, c, req.Group), one.instance
			req.Members = append(req.Members, m)
		}
		return req
	})
}

func describeGroups(g *generator) step {
	which, operations := several(g, g.group), g.chance(20)
	return ask(g, kmsg.DescribeGroups, func(w *world, _ *client) *kmsg.DescribeGroupsRequest {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.IncludeAuthorizedOperations = operations
		for _, i := range which {
			req.Groups = append(req.Groups, w.group(i))
		}
		return req
	})
}

func listGroups(g *generator) step {
	states := pick(g, nil, nil, []string{"Stable"}, []string{"empty", "PreparingRebalance"}, []string{"CompletingRebalance"}, []string{"Nothing"})
	types := pick(g, nil, nil, nil, []string{"classic"}, []string{"consumer"})
	return ask(g, kmsg.ListGroups, func(*world, *client) *kmsg.ListGroupsRequest {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter, req.TypesFilter = states, types
		return req
	})
}

func deleteGroups(g *generator) step {
	which := several(g, g.group)
	return ask(g, kmsg.DeleteGroups, func(w *world, _ *client) *kmsg.DeleteGroupsRequest {
		req := kmsg.NewPtrDeleteGroupsRequest()
		for _, i := range which {
			req.Groups = append(req.Groups, w.group(i))
		}
		return req
	})
}

// byClient is in the order of the clients: ids begin with theirs.
func byClient(members []kmsg.JoinGroupResponseMember) []kmsg.JoinGroupResponseMember {
	return slices.SortedStableFunc(slices.Values(members), func(a, b kmsg.JoinGroupResponseMember) int {
		return strings.Compare(uuid.ReplaceAllString(a.MemberID, ""), uuid.ReplaceAllString(b.MemberID, ""))
	})
}
