package consumer

import (
	"time"

	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

// expectBeat has the next heartbeat be sent in time.
func (c *Consumer) expectBeat() {
	if c.mu.beat == nil {
		c.mu.beat = time.AfterFunc(c.opts.HeartbeatInterval, c.heartbeat)
		return
	}
	c.mu.beat.Reset(c.opts.HeartbeatInterval)
}

// heartbeat keeps the member's session, brings a rebalance on its way forward and
// has a member that does not poll leave.
func (c *Consumer) heartbeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.mu.member
	if c.mu.closed || c.mu.mode != byGroup || c.b.Closed() {
		return
	}
	defer c.expectBeat()
	if c.advance(); m.arrived || m.err != nil {
		c.nudge()
	}
	switch since := c.mu.idle; {
	case m.generation == assign.NoGeneration:
	case !since.IsZero() && time.Since(since) > c.opts.MaxPollInterval:
		c.opts.Logger.Warn("consumer: left the group, as Poll was not called in time", "group", c.group, "member", m.id,
			"since", since, "max.poll.interval.ms", c.opts.MaxPollInterval.Milliseconds())
		c.abandon()
	case m.phase == idle:
		c.beat(m)
	}
}

func (c *Consumer) beat(m *member) {
	var code group.Code
	r := group.HeartbeatRequest{Group: c.group, MemberID: m.id, InstanceID: c.instance(), Generation: m.generation}
	err := c.coordinator(func(k *group.Coordinator, now time.Time) { code = k.Heartbeat(now, r) })
	if err != nil {
		code = codeOf(err)
	}
	if code == group.None || passing(code) { // the next one finds out more
		return
	}
	c.setBack(code, "a heartbeat")
	c.nudge()
}

// abandon leaves the group for as long as nobody polls. A static member only
// stops its heartbeats: its place is kept until its session ends.
func (c *Consumer) abandon() {
	m := &c.mu.member
	if c.opts.InstanceID == "" {
		_ = c.b.Group(c.group, func(k *group.Coordinator, now time.Time) {
			k.Leave(now, group.LeaveRequest{Group: c.group, Members: []group.Leaver{{MemberID: m.id}}})
		})
		m.id = ""
	}
	m.drop()
}
