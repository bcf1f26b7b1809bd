package group

import "time"

// SyncRequest is a SyncGroup.
type SyncRequest struct {
	Version                int16 // of the request: from 5 on the protocol has to be named
	Group, MemberID        string
	InstanceID             *string
	Generation             int32
	ProtocolType, Protocol *string
	Assignments            map[string][]byte // by member id, from the leader
}

// SyncResponse answers it.
type SyncResponse struct {
	Code                   Code
	ProtocolType, Protocol string // from version 5 on null with an error
	Assignment             []byte
}

// Sync gives a member its assignment, when the leader's have come and are
// durable. reply is called once, now or later.
func (c *Coordinator) Sync(now time.Time, r SyncRequest, reply func(SyncResponse)) {
	c.now = now
	if r.Version >= 5 && (r.ProtocolType == nil || r.Protocol == nil) {
		reply(SyncResponse{Code: InconsistentGroupProtocol})
		return
	}
	g, code := c.find(r.Group)
	if code == None {
		code = g.checkSync(r)
	}
	if code != None {
		reply(SyncResponse{Code: code})
		return
	}
	m := g.byID[r.MemberID]
	m.mustSync = false
	if g.state == Stable {
		c.touch(now, g, m)
		reply(g.synced(m))
		return
	}
	m.answerSync(SyncResponse{Code: RebalanceInProgress})
	m.sync = reply
	if g.isLeader(m) && !g.syncing {
		c.assign(now, g, r.Assignments)
	}
}

func (g *group) checkSync(r SyncRequest) Code {
	differs := func(said *string, is string) bool { return said != nil && *said != is }
	if code := g.validate(r.MemberID, r.InstanceID); code != None {
		return code
	}
	switch {
	case r.Generation != g.generation:
		return IllegalGeneration
	case differs(r.ProtocolType, g.protocolType) || differs(r.Protocol, g.protocol):
		return InconsistentGroupProtocol
	case g.state == PreparingRebalance:
		return RebalanceInProgress
	}
	return None
}

func (g *group) synced(m *member) SyncResponse {
	return SyncResponse{ProtocolType: g.protocolType, Protocol: g.protocol, Assignment: m.assignment}
}

// assign writes the leader's assignment and hands it out when it is durable, if
// the generation is still the same then.
func (c *Coordinator) assign(now time.Time, g *group, assignments map[string][]byte) {
	generation := g.generation
	g.syncing = true
	c.writeGroup(now, g, assignments, func(code Code) {
		if g.state != CompletingRebalance || g.generation != generation {
			return
		}
		g.syncing = false
		if code != None {
			g.resetAssignments(code)
			c.prepare(c.now, g)
			return
		}
		g.enter(Stable, c.now)
		members := append([]*member(nil), g.members...)
		for _, m := range members {
			m.assignment = assignments[m.id]
			c.touch(c.now, g, m)
		}
		for _, m := range members {
			m.answerSync(g.synced(m))
		}
	})
}
