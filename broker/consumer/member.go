package consumer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

// member is what the consumer is in its group.
//
//	         join            sync             its answer, put into effect by Poll
//	idle -----------> joining ----> syncing ----> idle, arrived ----> idle
//
// A join is sent by Poll alone, as partitions are revoked before it. What follows
// from its answer needs no Poll: heartbeats see to it as well.
type member struct {
	id         string
	generation int32 // assign.NoGeneration: it is in none
	protocol   string

	phase   phase
	joined  chan group.JoinResponse // of the join on its way
	synced  chan group.SyncResponse
	arrived bool // there is an assignment that is not in effect
	answer  []byte

	rejoin bool      // a join is due
	lost   bool      // what partitions it has may be another's
	fenced bool      // another consumer has the instance id: for good
	err    error     // what Poll is to return
	retry  time.Time // before then no join

	said     []string         // topics subscribed to, in the last join
	leads    map[string]int32 // of the leader: the group's topics and how many partitions each had
	previous []TopicPartition // what it got last, for the sticky assignor
}

type phase int

const (
	idle phase = iota
	joining
	syncing
)

func (m *member) reset() { *m = member{generation: assign.NoGeneration} }

// drop is after the group went on without the member.
func (m *member) drop() {
	m.lost, m.rejoin = true, true
	m.generation, m.leads, m.arrived = assign.NoGeneration, nil, false
	m.phase = idle
}

func (c *Consumer) instance() *string {
	if c.opts.InstanceID == "" {
		return nil
	}
	return &c.opts.InstanceID
}

// takePart does what the group wants of its member, as far as that can be done
// without waiting.
func (c *Consumer) takePart(ctx context.Context, topicsChanged bool) error {
	m := &c.mu.member
	if topicsChanged && c.outdated() {
		m.rejoin = true
	}
	for {
		c.advance()
		switch {
		case m.lost:
			c.lose(ctx)
		case m.fenced, m.err != nil:
			err := m.err
			if !m.fenced {
				m.err = nil
			}
			return err
		case m.arrived:
			c.takeOver(ctx)
		case m.phase != idle, !m.rejoin, m.retry.After(time.Now()), c.mu.closing:
			return nil
		default:
			c.prepare(ctx)
			if !m.lost {
				c.join()
			}
		}
	}
}

// outdated says that what was said of topics, or assigned, is not true any more.
func (c *Consumer) outdated() bool {
	m := &c.mu.member
	if (m.phase != idle || m.generation != assign.NoGeneration) && !slices.Equal(m.said, c.subscribed()) {
		return true
	}
	return m.leads != nil && !maps.Equal(m.leads, c.counts(slices.Collect(maps.Keys(m.leads))))
}

// counts are how many partitions topics have, 0 of those that do not exist.
func (c *Consumer) counts(names []string) map[string]int32 {
	n := make(map[string]int32, len(names))
	for _, name := range names {
		n[name] = 0
		if t, err := c.b.Topic(name); err == nil {
			n[name] = int32(len(t.Partitions()))
		}
	}
	return n
}

// join asks to be in the next generation.
func (c *Consumer) join() {
	m := &c.mu.member
	m.rejoin, m.retry = false, time.Time{}
	m.said = c.subscribed()
	r := group.JoinRequest{Version: 9, Group: c.group, MemberID: m.id, InstanceID: c.instance(), ClientID: c.opts.ClientID, ClientHost: host,
		SessionTimeout: c.opts.SessionTimeout, RebalanceTimeout: c.opts.MaxPollInterval, ProtocolType: "consumer"}
	s := assign.Subscription{Topics: m.said, Owned: c.owned(), Generation: m.generation}
	for _, a := range c.opts.Assignors {
		s.UserData = a.UserData(m.previous, m.generation)
		r.Protocols = append(r.Protocols, group.Protocol{Name: a.Name(), Metadata: s.Append(nil)})
	}
	// The channel is this join's: an answer to an earlier one goes nowhere.
	answer := make(chan group.JoinResponse, 1)
	m.phase, m.joined = joining, answer
	err := c.coordinator(func(k *group.Coordinator, now time.Time) {
		k.Join(now, r, func(j group.JoinResponse) { answer <- j; c.nudge() })
	})
	if err != nil {
		c.setBack(codeOf(err), "joining the group")
	}
	c.expectBeat()
}

// host is where members say they are.
const host = "/127.0.0.1"

// advance takes what the coordinator has answered.
func (c *Consumer) advance() {
	m := &c.mu.member
	for {
		switch m.phase {
		case joining:
			select {
			case j := <-m.joined:
				c.hasJoined(j)
				continue
			default:
			}
		case syncing:
			select {
			case s := <-m.synced:
				c.hasSynced(s)
			default:
			}
		}
		return
	}
}

func (c *Consumer) hasJoined(j group.JoinResponse) {
	m := &c.mu.member
	switch m.phase = idle; j.Code {
	case group.None:
	case group.MemberIDRequired:
		m.id = j.MemberID
		c.join()
		return
	default:
		c.setBack(j.Code, "joining the group")
		return
	}
	m.id, m.generation, m.protocol, m.leads = j.MemberID, j.Generation, j.Protocol, nil
	r := group.SyncRequest{Version: 5, Group: c.group, MemberID: m.id, InstanceID: c.instance(), Generation: m.generation,
		ProtocolType: &j.ProtocolType, Protocol: &j.Protocol}
	if j.Leader == m.id {
		var err error
		if r.Assignments, err = c.lead(j); err != nil {
			m.err, m.rejoin, m.retry = err, true, time.Now().Add(backoff)
			return
		}
	}
	answer := make(chan group.SyncResponse, 1)
	m.phase, m.synced = syncing, answer
	err := c.coordinator(func(k *group.Coordinator, now time.Time) {
		k.Sync(now, r, func(s group.SyncResponse) { answer <- s; c.nudge() })
	})
	if err != nil {
		c.setBack(codeOf(err), "the assignment")
	}
}

// lead is what a group's leader does: it assigns partitions to all members. A
// static member that comes back as the leader finds them assigned.
func (c *Consumer) lead(j group.JoinResponse) (map[string][]byte, error) {
	m := &c.mu.member
	var members []assign.Member
	var names []string
	for _, one := range j.Members {
		s, err := assign.ParseSubscription(one.Metadata)
		if err != nil {
			return nil, fmt.Errorf("consumer: what member %q says: %w", one.MemberID, err)
		}
		member := assign.Member{ID: one.MemberID, Subscription: s}
		if one.InstanceID != nil {
			member.InstanceID = *one.InstanceID
		}
		members, names = append(members, member), append(names, s.Topics...)
	}
	m.leads = c.counts(names)
	if j.SkipAssignment {
		return nil, nil
	}
	topics := make(assign.Topics)
	for name, n := range m.leads {
		if n > 0 {
			topics[name] = assign.Topic{Partitions: n}
		}
	}
	at := slices.IndexFunc(c.opts.Assignors, func(a assign.Assignor) bool { return a.Name() == j.Protocol })
	if at < 0 {
		return nil, fmt.Errorf("consumer: the group has chosen the assignor %q, which is none of this member's", j.Protocol)
	}
	all := make(map[string][]byte)
	for id, list := range c.opts.Assignors[at].Assign(topics, members) {
		all[id] = assign.AppendAssignment(nil, list)
	}
	return all, nil
}

func (c *Consumer) hasSynced(s group.SyncResponse) {
	m := &c.mu.member
	m.phase = idle
	if s.Code != group.None {
		c.setBack(s.Code, "the assignment")
		return
	}
	m.arrived, m.answer = true, s.Assignment
}

// setBack takes what the coordinator refuses a member with: whatever it is, the
// member joins again, if it may.
func (c *Consumer) setBack(code group.Code, what string) {
	m := &c.mu.member
	m.phase, m.rejoin = idle, true
	switch {
	case code == group.RebalanceInProgress:
	case code == group.UnknownMemberID, code == group.GroupIDNotFound:
		m.id = ""
		m.drop()
	case code == group.IllegalGeneration:
		m.drop()
	case code == group.FencedInstanceID:
		m.drop()
		m.fenced, m.err = true, coded(what, code)
	case c.b.Closed():
		m.err = broker.ErrClosed
	default:
		m.retry = time.Now().Add(backoff)
		if !passing(code) {
			m.err = coded(what, code)
		}
	}
}

// leave leaves the group, but for a static member, and forgets what was assigned.
func (c *Consumer) leave() {
	m := &c.mu.member
	for _, tp := range c.owned() {
		c.drop(tp)
	}
	if c.mu.beat != nil {
		c.mu.beat.Stop()
	}
	if m.id != "" && c.opts.InstanceID == "" {
		_ = c.b.Group(c.group, func(k *group.Coordinator, now time.Time) {
			k.Leave(now, group.LeaveRequest{Group: c.group, Members: []group.Leaver{{MemberID: m.id}}})
		})
	}
	m.reset()
}
