package group_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

// sim is a group of consumers as the field has them: each joins, syncs, sends
// heartbeats, commits, leaves or dies, and believes what it was told last. The
// coordinator's appends take their time, fail, or are lost when it restarts.
type sim struct {
	*world
	t         *testing.T
	rnd       *rand.Rand
	assignor  assign.Assignor
	topics    assign.Topics
	consumers []*consumer
	next      int
	quiet     bool // nobody dies, and the log takes all

	// acked is the largest offset of each partition whose commit was answered.
	// Members count on from what they read, so that it only grows.
	acked map[assign.TopicPartition]int64
	owner map[ownership]string
	stats struct{ generations, assignments, commits, fenced, moved int }
}

// ownership is a partition in a generation.
type ownership struct {
	assign.TopicPartition
	generation int32
}

// consumer is one of them. What is in it is what it knows.
type consumer struct {
	*client
	static     bool
	joined     *parked[group.JoinResponse]
	synced     *parked[group.SyncResponse]
	member     bool // it has an assignment of its generation
	owned      []assign.TopicPartition
	position   map[assign.TopicPartition]int64
	beats      time.Time
	generation int32 // of what it owns
}

func (s *sim) spawn(instance string) {
	s.next++
	c := &consumer{client: s.client(fmt.Sprint("c", s.next), "g"), position: make(map[assign.TopicPartition]int64), generation: assign.NoGeneration}
	c.session, c.rebalance, c.version = 10*time.Second, 15*time.Second, 9
	if instance != "" {
		c.instance, c.static = &instance, true
	}
	s.consumers = append(s.consumers, c)
}

func (s *sim) subscription(c *consumer) []group.Protocol {
	sub := assign.Subscription{Topics: []string{"a", "b"}, Owned: c.owned, Generation: c.generation}
	sub.UserData = s.assignor.UserData(c.owned, c.generation)
	return []group.Protocol{{Name: s.assignor.Name(), Metadata: sub.Append(nil)}}
}

// lose is what a member does that is told that it is none.
func (c *consumer) lose() {
	c.owned, c.generation, c.member = nil, assign.NoGeneration, false
	c.client.id, c.client.generation = "", -1
}

// step lets a consumer do what is next for it.
func (s *sim) step(c *consumer) {
	switch {
	case c.joined != nil:
		if c.joined.done {
			s.afterJoin(c)
		}
	case c.synced != nil:
		if c.synced.done {
			s.afterSync(c)
		}
	case !c.member:
		s.join(c)
	case s.rnd.IntN(3) == 0:
		s.commitOne(c)
	case !s.now.Before(c.beats):
		c.beats = s.now.Add(3 * time.Second)
		s.heard(c, c.beat())
	}
}

func (s *sim) join(c *consumer) {
	if !s.assignor.Cooperative() {
		c.member = false
	}
	c.protocols = s.subscription(c)
	c.joined = c.joining()
}

// heard is what a code does to a member.
func (s *sim) heard(c *consumer, code group.Code) {
	switch code {
	case group.RebalanceInProgress:
		c.member = false // it rejoins
		if !s.assignor.Cooperative() {
			c.release()
		}
	case group.UnknownMemberID, group.FencedInstanceID:
		s.stats.fenced++
		c.lose()
	case group.IllegalGeneration:
		s.stats.fenced++
		c.owned, c.generation, c.member = nil, assign.NoGeneration, false
	}
}

// release gives up what it has; a sticky member remembers it all the same.
func (c *consumer) release() { c.position = make(map[assign.TopicPartition]int64) }

func (s *sim) afterJoin(c *consumer) {
	r := c.joined.got
	c.joined = nil
	switch r.Code {
	case group.None:
	case group.MemberIDRequired:
		c.client.id = r.MemberID
		return
	default:
		s.heard(c, r.Code)
		return
	}
	if !s.assignor.Cooperative() {
		c.release()
	}
	s.stats.generations = max(s.stats.generations, int(r.Generation))
	assignments := map[string][]byte{}
	if r.Leader == r.MemberID && !r.SkipAssignment {
		require.NotEmpty(s.t, r.Members)
		var members []assign.Member
		for _, m := range r.Members {
			sub, err := assign.ParseSubscription(m.Metadata)
			require.NoError(s.t, err)
			member := assign.Member{ID: m.MemberID, Subscription: sub}
			if m.InstanceID != nil {
				member.InstanceID = *m.InstanceID
			}
			members = append(members, member)
		}
		for id, list := range s.assignor.Assign(s.topics, members) {
			assignments[id] = assign.AppendAssignment(nil, list)
		}
	}
	p := &parked[group.SyncResponse]{t: s.t}
	request := c.syncRequest()
	request.Assignments = assignments
	s.c.Sync(s.now, request, p.reply)
	c.synced = p
}

// afterSync takes the assignment. No other member has got a partition of it in
// the same generation.
func (s *sim) afterSync(c *consumer) {
	r := c.synced.got
	c.synced = nil
	if r.Code != group.None {
		s.heard(c, r.Code)
		return
	}
	list, err := assign.ParseAssignment(r.Assignment)
	require.NoError(s.t, err)
	s.stats.assignments++
	for _, tp := range list {
		o := ownership{tp, c.client.generation}
		who := c.client.id
		if c.static {
			who = *c.instance // one may take the place of another
		}
		if other, ok := s.owner[o]; ok {
			require.Equal(s.t, other, who, "%v in generation %d", tp, o.generation)
		}
		s.owner[o] = who
		if _, had := c.position[tp]; !had || !slices.Contains(c.owned, tp) {
			s.stats.moved++
			c.position[tp] = max(s.read(tp), 0)
		}
	}
	// What it gave up it has to say, in a rebalance of its own.
	again := s.assignor.Cooperative() && slices.ContainsFunc(c.owned, func(tp assign.TopicPartition) bool { return !slices.Contains(list, tp) })
	c.owned, c.generation, c.member = list, c.client.generation, !again
	c.beats = s.now
}

// read is the committed offset, which is none of the past.
func (s *sim) read(tp assign.TopicPartition) int64 {
	list, code := s.c.Fetch("g", []assign.TopicPartition{tp}, false)
	require.Equal(s.t, group.None, code)
	require.GreaterOrEqual(s.t, list[0].Offset.Offset, s.acked[tp]-1, "%v went back", tp)
	return list[0].Offset.Offset
}

// commitOne goes on in a partition and commits that. A member that is none any
// more is refused, so that what is acknowledged grows.
func (s *sim) commitOne(c *consumer) {
	if len(c.owned) == 0 {
		return
	}
	tp := c.owned[s.rnd.IntN(len(c.owned))]
	c.position[tp]++
	offset := c.position[tp]
	r := c.client.commit()
	r.Offsets = []group.Commit{{TopicPartition: tp, Offset: offset, LeaderEpoch: -1}}
	s.c.Commit(s.now, r, func(answers []group.Committed) {
		s.stats.commits++
		if code := answers[0].Code; code != group.None {
			s.heard(c, code)
			return
		}
		s.acked[tp] = max(s.acked[tp], offset+1)
	})
}

// disturb is what happens to groups.
func (s *sim) disturb() {
	pick := func() *consumer {
		if len(s.consumers) == 0 {
			return nil
		}
		return s.consumers[s.rnd.IntN(len(s.consumers))]
	}
	drop := func(c *consumer) {
		s.consumers = slices.DeleteFunc(s.consumers, func(o *consumer) bool { return o == c })
	}
	switch n := s.rnd.IntN(100); {
	case n < 30 && len(s.consumers) < 8:
		s.spawn("")
	case n < 40:
		instance := fmt.Sprint("i", s.rnd.IntN(3))
		if c := pick(); c != nil && c.static {
			instance = *c.instance
			drop(c) // it died and comes back
		}
		if !slices.ContainsFunc(s.consumers, func(c *consumer) bool { return c.static && *c.instance == instance }) {
			s.spawn(instance)
		}
	case n < 55:
		if c := pick(); c != nil && c.joined == nil && c.synced == nil {
			if c.client.id != "" {
				c.leave()
			}
			drop(c)
		}
	case n < 65:
		if c := pick(); c != nil {
			drop(c) // it dies
		}
	case n < 70:
		s.pass(time.Duration(s.rnd.IntN(20)) * time.Second) // all are stuck
	case n < 75:
		s.refuse = []group.Code{group.None, group.NotEnoughReplicas, group.RequestTimedOut}[s.rnd.IntN(3)]
	case n < 80:
		s.hold = !s.hold
	case n < 84:
		s.restart()
	}
}

func (s *sim) restart() {
	s.refuse = group.None
	s.world.restart()
	for _, c := range s.consumers {
		if c.joined != nil && !c.joined.done || c.synced != nil && !c.synced.done {
			s.t.Fatalf("%s is still waiting", c.name)
		}
	}
	for tp, acked := range s.acked {
		require.GreaterOrEqual(s.t, s.read(tp), acked-1, "%v was lost", tp)
	}
}

func (s *sim) flushSome() {
	for n := s.rnd.IntN(3); n > 0 && len(s.waiting) > 0; n-- {
		write := s.waiting[0]
		s.waiting = s.waiting[1:]
		write()
	}
}

func (s *sim) round() {
	if !s.quiet && s.rnd.IntN(4) == 0 {
		s.disturb()
	}
	for _, i := range s.rnd.Perm(len(s.consumers)) {
		if i < len(s.consumers) {
			s.step(s.consumers[i])
		}
	}
	if s.hold {
		s.flushSome()
	} else {
		s.flush()
	}
	s.pass(time.Duration(s.rnd.IntN(1500)) * time.Millisecond)
}

// settled says that the group is stable and all partitions have an owner.
func (s *sim) settled() bool {
	d := s.c.Describe("g")
	if d.State != group.Stable || len(d.Members) != len(s.consumers) {
		return false
	}
	n := 0
	for _, c := range s.consumers {
		if !c.member {
			return false
		}
		n += len(c.owned)
	}
	return n == 9
}

func runSim(t *testing.T, seed uint64, rounds int) *sim {
	w := newWorld(t, group.Config{InitialRebalanceDelay: time.Second})
	s := &sim{world: w, t: t, rnd: rand.New(rand.NewPCG(seed, 1)), topics: assign.Topics{"a": {Partitions: 5}, "b": {Partitions: 4}},
		acked: make(map[assign.TopicPartition]int64), owner: make(map[ownership]string)}
	all := []assign.Assignor{assign.Range{}, assign.RoundRobin{}, assign.Sticky{}, assign.CooperativeSticky{}}
	s.assignor = all[seed%4]
	for range rounds {
		s.round()
	}
	// When requests and accidents stop, the group comes to rest.
	s.quiet, s.hold, s.refuse = true, false, group.None
	s.flush()
	if len(s.consumers) == 0 {
		s.spawn("")
	}
	for i := 0; !s.settled(); i++ {
		require.Less(t, i, 200, "the group does not settle: %+v", s.c.Describe("g"))
		s.round()
	}
	generation := s.consumers[0].client.generation
	for range 50 {
		s.round()
	}
	require.True(t, s.settled())
	require.Equal(t, generation, s.consumers[0].client.generation, "a group at rest does not rebalance")
	s.restart()
	for range 50 {
		s.round()
	}
	require.True(t, s.settled())
	require.Equal(t, generation, s.consumers[0].client.generation, "nor does it when the coordinator restarts")
	return s
}

// TestSimulation: groups of each assignor with members that come, go, die and
// are stuck, and a coordinator that restarts and whose log is slow or refuses. In
// no generation do two members own a partition, what was acknowledged is never
// lost nor goes back, all that wait are answered, and when it is quiet the group
// is stable with all partitions assigned.
func TestSimulation(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 40
	}
	var sum sim
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := runSim(t, seed, 300)
			sum.stats.generations += s.stats.generations
			sum.stats.assignments += s.stats.assignments
			sum.stats.commits += s.stats.commits
			sum.stats.fenced += s.stats.fenced
			sum.stats.moved += s.stats.moved
		})
	}
	t.Logf("%+v", sum.stats)
	require.Greater(t, sum.stats.generations, int(seeds)*10, "groups rebalanced")
	require.Greater(t, sum.stats.commits, int(seeds)*100)
	require.Greater(t, sum.stats.fenced, int(seeds))
}
