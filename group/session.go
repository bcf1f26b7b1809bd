package group

import "time"

// touch gives a member another session.
func (c *Coordinator) touch(now time.Time, g *group, m *member) {
	c.expect(g, m, now.Add(m.session))
}

// expect sets when a member's session ends. It has one timer, which looks at
// that when it fires.
func (c *Coordinator) expect(g *group, m *member, at time.Time) {
	m.expires = at
	if m.scheduled {
		if at.Before(m.timerAt) {
			m.scheduled = false
			c.schedule(g, m, at)
		}
		return
	}
	c.schedule(g, m, at)
}

func (c *Coordinator) schedule(g *group, m *member, at time.Time) {
	m.scheduled, m.timerAt = true, at
	c.timers.set(at, func(now time.Time) {
		if !m.scheduled || !m.timerAt.Equal(at) {
			return // there is an earlier one
		}
		m.scheduled = false
		switch {
		case c.groups[g.id] != g || g.byID[m.id] != m:
		case m.expires.After(now):
			c.schedule(g, m, m.expires)
		case !m.isNew && (m.join != nil || m.sync != nil):
			// It waits for us. Its answer begins a session.
		default:
			c.kick(now, g, m, UnknownMemberID)
		}
	})
}

// HeartbeatRequest is a Heartbeat.
type HeartbeatRequest struct {
	Group, MemberID string
	InstanceID      *string
	Generation      int32
}

// Heartbeat keeps a member's session alive. While loading it answers None, as
// otherwise members would look for another coordinator.
func (c *Coordinator) Heartbeat(now time.Time, r HeartbeatRequest) Code {
	c.now = now
	if c.loading && !c.closed && r.Group != "" {
		return None
	}
	g, code := c.find(r.Group)
	if code != None {
		return code
	}
	if code := g.validate(r.MemberID, r.InstanceID); code != None {
		return code
	}
	if r.Generation != g.generation {
		return IllegalGeneration
	}
	c.touch(now, g, g.byID[r.MemberID])
	if g.state == PreparingRebalance {
		return RebalanceInProgress
	}
	return None
}
