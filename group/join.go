package group

import (
	"time"
)

// JoinRequest is a JoinGroup.
type JoinRequest struct {
	Version              int16 // of the request: from 4 on ids are given before, from 9 on SkipAssignment is known
	Group, MemberID      string
	InstanceID           *string
	ClientID, ClientHost string // the host as Kafka writes it, with a slash before it
	SessionTimeout       time.Duration
	RebalanceTimeout     time.Duration // version 0 has none: give the session timeout
	ProtocolType         string
	Protocols            []Protocol
}

// JoinResponse answers it. Generation is -1 with an error.
type JoinResponse struct {
	Code                   Code
	Generation             int32
	ProtocolType, Protocol string // from version 7 on null with an error
	Leader, MemberID       string
	SkipAssignment         bool
	Members                []JoinedMember // for the leader alone
}

// JoinedMember is what the leader learns of a member.
type JoinedMember struct {
	MemberID   string
	InstanceID *string
	Metadata   []byte
}

func refused(code Code, memberID string) JoinResponse {
	return JoinResponse{Code: code, Generation: -1, MemberID: memberID}
}

// Join lets a member join, or rejoin. reply is called once, now or later. What
// the request holds is kept.
func (c *Coordinator) Join(now time.Time, r JoinRequest, reply func(JoinResponse)) {
	c.now = now
	g, code := c.find(r.Group)
	created := code == UnknownMemberID && r.MemberID == ""
	switch {
	case r.SessionTimeout < c.config.MinSessionTimeout || r.SessionTimeout > c.config.MaxSessionTimeout:
		if code == None || code == UnknownMemberID {
			reply(refused(InvalidSessionTimeout, r.MemberID))
			return
		}
	case created:
		g, code = newGroup(r.Group, now), None
		c.groups[r.Group] = g
		// It is there from now on, if only with the id that it gives.
		c.writeGroup(now, g, nil, func(Code) {})
	}
	if code != None {
		reply(refused(code, r.MemberID))
		return
	}
	c.join(now, g, r, reply)
}

func (c *Coordinator) join(now time.Time, g *group, r JoinRequest, reply func(JoinResponse)) {
	m := g.byID[r.MemberID]
	_, isPending := g.pending[r.MemberID]
	switch {
	case c.full(g, m):
		if m != nil {
			c.kick(now, g, m, GroupMaxSizeReached)
		}
		delete(g.pending, r.MemberID)
		c.maybeComplete(now, g)
		reply(refused(GroupMaxSizeReached, ""))
	case !g.supports(r.ProtocolType, r.Protocols):
		reply(refused(InconsistentGroupProtocol, r.MemberID))
	case r.MemberID == "" && r.InstanceID != nil:
		if old := g.statics[*r.InstanceID]; old != nil {
			c.replace(now, g, old, r, reply)
			return
		}
		c.add(now, g, c.config.NewMemberID(*r.InstanceID), r, reply)
	case r.MemberID == "" && r.Version >= 4:
		id := c.config.NewMemberID(r.ClientID)
		c.addPending(now, g, id, r.SessionTimeout)
		reply(refused(MemberIDRequired, id))
	case r.MemberID == "":
		c.add(now, g, c.config.NewMemberID(r.ClientID), r, reply)
	case isPending && r.InstanceID != nil:
		// An id that was given to a dynamic member is not a static one's.
		reply(refused(UnknownMemberID, r.MemberID))
	case isPending:
		delete(g.pending, r.MemberID)
		c.add(now, g, r.MemberID, r, reply)
	default:
		if code := g.validate(r.MemberID, r.InstanceID); code != None {
			reply(refused(code, r.MemberID))
			return
		}
		c.rejoin(now, g, m, r, reply)
	}
}

// full says that a member has no place. While a rebalance goes on those are
// counted that have joined, so that a group above the limit shrinks.
func (c *Coordinator) full(g *group, m *member) bool {
	switch limit := c.config.MaxSize; {
	case limit == 0 || g.state == Empty:
		return false
	case g.state == PreparingRebalance:
		return (m == nil || m.join == nil) && g.waiting() >= limit
	default:
		return m == nil && len(g.members) >= limit
	}
}

// rejoin is the join of a member that is there already.
func (c *Coordinator) rejoin(now time.Time, g *group, m *member, r JoinRequest, reply func(JoinResponse)) {
	again := m.matches(r.Protocols)
	switch {
	case again && (g.state == CompletingRebalance || g.state == Stable && !g.isLeader(m)):
		// It did not get the answer: nothing has changed since.
		reply(g.joined(m))
	default:
		// A leader's rejoin always rebalances: it may have seen partitions come.
		c.update(m, r, reply)
		c.rebalance(now, g)
		return
	}
	c.touch(now, g, m)
}

// joined is the answer of the current generation.
func (g *group) joined(m *member) JoinResponse {
	r := JoinResponse{Generation: g.generation, ProtocolType: g.protocolType, Protocol: g.protocol, Leader: g.leader, MemberID: m.id}
	if g.isLeader(m) {
		r.Members = g.forLeader()
	}
	return r
}

func (g *group) forLeader() (list []JoinedMember) {
	for _, m := range g.members {
		list = append(list, JoinedMember{m.id, m.instance, m.metadata(g.protocol)})
	}
	return list
}

// update takes what a member says in its join, and parks that. A join that was
// parked before is of a connection that is gone.
func (c *Coordinator) update(m *member, r JoinRequest, reply func(JoinResponse)) {
	m.answerJoin(refused(RebalanceInProgress, m.id))
	m.protocols, m.session, m.rebalance = r.Protocols, r.SessionTimeout, r.RebalanceTimeout
	m.join, m.joinSkips = reply, r.Version >= 9
}

// add makes a member, whose first join is parked.
func (c *Coordinator) add(now time.Time, g *group, id string, r JoinRequest, reply func(JoinResponse)) {
	m := &member{id: id, instance: r.InstanceID, clientID: r.ClientID, clientHost: r.ClientHost, isNew: true}
	if len(g.members) == 0 {
		g.protocolType = r.ProtocolType
	}
	g.add(m)
	c.update(m, r, reply)
	g.newMembers = g.newMembers || g.initial
	// It knows no id and sends no heartbeats while the join is parked.
	c.expect(g, m, now.Add(c.config.NewMemberTimeout))
	c.rebalance(now, g)
}

// addPending gives an id, which has to be used within a session.
func (c *Coordinator) addPending(now time.Time, g *group, id string, session time.Duration) {
	c.timers.seq++
	number := c.timers.seq
	g.pending[id] = number
	c.timers.set(now.Add(session), func(now time.Time) {
		if c.groups[g.id] == g && g.pending[id] == number {
			delete(g.pending, id)
			c.maybeComplete(now, g)
		}
	})
}

// replace puts a static member that joined anew in the place of the old one: if
// the group is stable and its protocol stays, nobody else notices.
func (c *Coordinator) replace(now time.Time, g *group, old *member, r JoinRequest, reply func(JoinResponse)) {
	leader := g.leader
	m := &member{id: c.config.NewMemberID(*r.InstanceID), instance: r.InstanceID, clientID: old.clientID, clientHost: old.clientHost, // as in Kafka
		assignment: old.assignment, mustSync: old.mustSync}
	g.swap(old, m)
	old.answerJoin(refused(FencedInstanceID, old.id))
	old.answerSync(SyncResponse{Code: FencedInstanceID})
	c.update(m, r, reply)
	c.touch(now, g, m)
	if g.state != Stable || g.vote() != g.protocol {
		c.rebalance(now, g)
		return
	}
	generation := g.generation
	c.writeGroup(now, g, nil, func(code Code) {
		if g.state != Stable || g.generation != generation || g.byID[m.id] != m || m.join == nil {
			return // it is in a rebalance, which answers it
		}
		switch {
		case code != None:
			g.swap(m, old)
			c.expect(g, old, old.expires)
			m.answerJoin(refused(code, ""))
		case m.joinSkips:
			response := g.joined(m)
			response.SkipAssignment = g.isLeader(m)
			m.answerJoin(response)
		default:
			// The client must not think that it has to assign.
			response := g.joined(m)
			response.Leader, response.Members = leader, nil
			m.answerJoin(response)
		}
	})
}

// swap puts one member in the place of another.
func (g *group) swap(old, m *member) {
	for i := range g.members {
		if g.members[i] == old {
			g.members[i] = m
		}
	}
	delete(g.byID, old.id)
	g.byID[m.id], g.statics[*m.instance] = m, m
	if g.leader == old.id {
		g.leader = m.id
	}
}
