package group

import (
	"bytes"
	"slices"
	"time"

	"github.com/seglog/seglog/group/assign"
	"github.com/seglog/seglog/internal/javahash"
)

// State is that of a group.
type State int

// The states, as DescribeGroups names them.
const (
	// Empty: no members. Offsets may be kept.
	Empty State = iota
	// PreparingRebalance: joins are parked until all members are there.
	PreparingRebalance
	// CompletingRebalance: syncs are parked until the leader's has come and is
	// durable.
	CompletingRebalance
	// Stable: members have their assignments.
	Stable
	// Dead: there is no such group.
	Dead
)

// String is the name that DescribeGroups and ListGroups have.
func (s State) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}[s]
}

// Protocol is one that a member knows, with what it says in it.
type Protocol struct {
	Name     string
	Metadata []byte
}

// group is one with all that is known of it.
type group struct {
	id    string
	state State
	since time.Time // of the state; zero if not known

	protocolType string // "" as long as nobody has joined
	protocol     string // "" unless there is a generation with members
	generation   int32
	leader       string // its id, which may be that of one who left: the next generation elects

	members []*member // in the order in which they joined
	byID    map[string]*member
	statics map[string]*member // by instance id
	pending map[string]uint64  // ids that were given and not used, with the number that their timer has

	initial    bool   // the rebalance is a new group's, which waits for its delay
	newMembers bool   // somebody joined while that delay ran
	rebalance  uint64 // its number: a timer of an older one does nothing
	syncing    bool   // the leader's assignment is being written
	deleting   bool   // its tombstones are being written

	subscribed      map[string]bool // topics, if they are known
	subscribedKnown bool

	offsets offsets
}

func newGroup(id string, now time.Time) *group {
	return &group{id: id, since: now, byID: make(map[string]*member), statics: make(map[string]*member),
		pending: make(map[string]uint64), offsets: newOffsets()}
}

// member is one of a group.
type member struct {
	id                   string
	instance             *string
	clientID, clientHost string
	session, rebalance   time.Duration
	protocols            []Protocol
	assignment           []byte

	isNew     bool // its first join is not answered yet
	mustSync  bool // it was told the generation and has not asked for its assignment
	expires   time.Time
	scheduled bool // it has a timer
	timerAt   time.Time
	join      func(JoinResponse) // the parked join, nil if there is none
	joinSkips bool               // that join knows SkipAssignment
	sync      func(SyncResponse)
}

func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

func (m *member) knows(protocol string) bool {
	return slices.ContainsFunc(m.protocols, func(p Protocol) bool { return p.Name == protocol })
}

// matches says that a member says the same again.
func (m *member) matches(protocols []Protocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b Protocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

func (g *group) enter(s State, now time.Time) { g.state, g.since = s, now }

func (g *group) add(m *member) {
	if len(g.members) == 0 {
		g.leader = m.id
	}
	g.members = append(g.members, m)
	g.byID[m.id] = m
	if m.instance != nil {
		g.statics[*m.instance] = m
	}
}

// remove takes a member out and answers what it waits for.
func (g *group) remove(m *member) {
	g.members = slices.DeleteFunc(g.members, func(o *member) bool { return o == m })
	delete(g.byID, m.id)
	if m.instance != nil && g.statics[*m.instance] == m {
		delete(g.statics, *m.instance)
	}
	m.answerJoin(refused(UnknownMemberID, ""))
	m.answerSync(SyncResponse{Code: UnknownMemberID})
}

func (m *member) answerJoin(r JoinResponse) {
	if reply := m.join; reply != nil {
		m.join = nil
		reply(r)
	}
}

func (m *member) answerSync(r SyncResponse) {
	if reply := m.sync; reply != nil {
		m.sync = nil
		reply(r)
	}
}

func (g *group) isLeader(m *member) bool { return g.leader == m.id }

// timeout is how long a rebalance may take.
func (g *group) timeout() (d time.Duration) {
	for _, m := range g.members {
		d = max(d, m.rebalance)
	}
	return d
}

func (g *group) waiting() (n int) {
	for _, m := range g.members {
		if m.join != nil {
			n++
		}
	}
	return n
}

// validate is the check of all calls of members, in Kafka's order.
func (g *group) validate(id string, instance *string) Code {
	if instance != nil {
		switch m := g.statics[*instance]; {
		case m == nil:
			return UnknownMemberID
		case m.id != id:
			return FencedInstanceID
		}
	}
	if g.byID[id] == nil {
		return UnknownMemberID
	}
	return None
}

// supports says that a member may join that knows these protocols: with those
// that are there now it has one in common.
func (g *group) supports(kind string, protocols []Protocol) bool {
	if len(g.members) == 0 {
		return kind != "" && len(protocols) > 0
	}
	return kind == g.protocolType && slices.ContainsFunc(protocols, func(p Protocol) bool { return g.common(p.Name) })
}

// common says that all members know a protocol.
func (g *group) common(protocol string) bool {
	return !slices.ContainsFunc(g.members, func(m *member) bool { return !m.knows(protocol) })
}

// vote is the protocol which most members like best of those that all know.
func (g *group) vote() string {
	votes := make(map[string]int)
	var names []string
	for _, m := range g.members {
		for _, p := range m.protocols {
			if g.common(p.Name) {
				if votes[p.Name]++; votes[p.Name] == 1 {
					names = append(names, p.Name)
				}
				break
			}
		}
	}
	best := ""
	for _, n := range javahash.Order(names) {
		if votes[n] > votes[best] {
			best = n
		}
	}
	return best
}

// consumers is the type of the groups of which the coordinator understands what
// members say.
const consumers = "consumer"

// learnTopics finds out what the members of a generation subscribe to.
func (g *group) learnTopics() {
	g.subscribed, g.subscribedKnown = make(map[string]bool), false
	if g.protocolType != consumers {
		return
	}
	for _, m := range g.members {
		s, err := assign.ParseSubscription(m.metadata(g.protocol))
		if err != nil {
			return
		}
		for _, t := range s.Topics {
			g.subscribed[t] = true
		}
	}
	g.subscribedKnown = true
}

// subscribes says whether offsets of a topic are in use: if it is not known what
// consumers subscribe to, they are.
func (g *group) subscribes(topic string) bool {
	return g.protocolType == consumers && (!g.subscribedKnown || g.subscribed[topic])
}
