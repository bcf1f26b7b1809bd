package group_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

// world is a coordinator with its log and a clock.
type world struct {
	t      require.TestingT
	c      *group.Coordinator
	config group.Config
	now    time.Time
	ids    int

	log     []logged   // what is durable
	hold    bool       // appends wait for flush
	waiting []func()   // those
	refuse  group.Code // what appends are answered
}

type logged struct {
	group.Record
	producer int64
	marker   bool // of a commit, if the key is nil
}

func newWorld(t *testing.T, config group.Config) *world {
	t.Helper()
	w := &world{t: t, now: time.UnixMilli(1_600_000_000_000)}
	w.start(config)
	return w
}

// start makes a coordinator that loads what the log has.
func (w *world) start(config group.Config) {
	config.Append = w.append
	config.NewMemberID = func(prefix string) string {
		w.ids++
		return fmt.Sprintf("%s-%d", prefix, w.ids)
	}
	if config.InitialRebalanceDelay == 0 {
		config.InitialRebalanceDelay = group.NoInitialDelay
	}
	w.config = config
	w.c = group.New(config)
	for i, l := range w.log {
		if l.Key == nil {
			w.c.EndTransaction(l.producer, l.marker)
			continue
		}
		require.NoError(w.t, w.c.Replay(l.Record, int64(i), l.producer))
	}
	w.c.Loaded(w.now)
}

func (w *world) restart() {
	w.c.Close()
	w.waiting = nil
	w.start(w.config)
}

func (w *world) append(b group.Batch, done func(int64, group.Code)) {
	write := func() {
		if w.refuse != group.None {
			done(-1, w.refuse)
			return
		}
		first := int64(len(w.log))
		for _, r := range b.Records {
			w.log = append(w.log, logged{Record: r, producer: b.ProducerID})
		}
		done(first, group.None)
	}
	if w.hold || len(w.waiting) > 0 { // a log keeps the order
		w.waiting = append(w.waiting, write)
		return
	}
	write()
}

// flush lets all appends be durable.
func (w *world) flush() {
	for len(w.waiting) > 0 {
		write := w.waiting[0]
		w.waiting = w.waiting[1:]
		write()
	}
}

func (w *world) end(producer int64, commit bool) {
	w.log = append(w.log, logged{producer: producer, marker: commit})
	w.c.EndTransaction(producer, commit)
}

// pass lets time pass and does what is due at its time.
func (w *world) pass(d time.Duration) {
	for end := w.now.Add(d); ; {
		at, ok := w.c.Next()
		if !ok || at.After(end) {
			w.now = end
			return
		}
		if at.After(w.now) {
			w.now = at
		}
		w.c.Tick(w.now)
	}
}

// client is a member as a test plays it.
type client struct {
	w          *world
	group, id  string
	instance   *string
	name       string
	generation int32
	session    time.Duration
	rebalance  time.Duration
	kind       string
	protocols  []group.Protocol
	version    int16
}

func (w *world) client(name, g string) *client {
	return &client{w: w, group: g, name: name, generation: -1, session: 30 * time.Second, rebalance: time.Minute, kind: "consumer", version: 5,
		protocols: speaks("range", "topic-of-"+name)}
}

func (w *world) static(name, g, instance string) *client {
	c := w.client(name, g)
	c.instance = &instance
	return c
}

// speaks is one protocol with a subscription.
func speaks(protocol string, topics ...string) []group.Protocol {
	return []group.Protocol{{Name: protocol, Metadata: assign.Subscription{Topics: topics, Generation: -1}.Append(nil)}}
}

// parked is an answer that may come later.
type parked[T any] struct {
	t    require.TestingT
	got  T
	done bool
}

func (p *parked[T]) reply(v T) {
	require.False(p.t, p.done, "answered twice")
	p.got, p.done = v, true
}

func (p *parked[T]) answer() T {
	require.True(p.t, p.done, "not answered yet")
	return p.got
}

func (p *parked[T]) waits() { require.False(p.t, p.done, "answered already: %+v", p.got) }

func (c *client) request() group.JoinRequest {
	return group.JoinRequest{Version: c.version, Group: c.group, MemberID: c.id, InstanceID: c.instance, ClientID: c.name, ClientHost: "/127.0.0.1",
		SessionTimeout: c.session, RebalanceTimeout: c.rebalance, ProtocolType: c.kind, Protocols: c.protocols}
}

// joining sends a join, with an id.
func (c *client) joining() *parked[group.JoinResponse] {
	p := &parked[group.JoinResponse]{t: c.w.t}
	c.w.c.Join(c.w.now, c.request(), func(r group.JoinResponse) {
		p.reply(r)
		if r.Code == group.None {
			c.id, c.generation = r.MemberID, r.Generation
		}
	})
	return p
}

// identified gets an id.
func (c *client) identified() *client {
	r := c.joining().answer()
	require.Equal(c.w.t, group.MemberIDRequired, r.Code)
	c.id = r.MemberID
	return c
}

func (c *client) syncing(assignments ...string) *parked[group.SyncResponse] {
	p := &parked[group.SyncResponse]{t: c.w.t}
	c.w.c.Sync(c.w.now, c.syncRequest(assignments...), p.reply)
	return p
}

func (c *client) syncRequest(assignments ...string) group.SyncRequest {
	r := group.SyncRequest{Version: 5, Group: c.group, MemberID: c.id, InstanceID: c.instance, Generation: c.generation,
		ProtocolType: &c.kind, Protocol: &c.protocols[0].Name, Assignments: map[string][]byte{}}
	for i := 0; i < len(assignments); i += 2 {
		r.Assignments[assignments[i]] = []byte(assignments[i+1])
	}
	return r
}

func (c *client) beat() group.Code {
	return c.w.c.Heartbeat(c.w.now, group.HeartbeatRequest{Group: c.group, MemberID: c.id, InstanceID: c.instance, Generation: c.generation})
}

func (c *client) leave() group.Code {
	r := c.w.c.Leave(c.w.now, group.LeaveRequest{Group: c.group, Members: []group.Leaver{{MemberID: c.id, InstanceID: c.instance}}})
	require.Equal(c.w.t, group.None, r.Code)
	return r.Members[0].Code
}

// formed makes a stable group of clients, the first of which leads. Their
// assignments are part-1, part-2 and so on.
func (w *world) formed(clients ...*client) {
	if clients[0].instance == nil {
		clients[0].identified()
	}
	joins := []*parked[group.JoinResponse]{clients[0].joining()}
	if len(clients) > 1 {
		joins[0].answer()
		joins = nil
		for _, c := range clients[1:] {
			if c.instance == nil {
				c.identified()
			}
		}
		for _, c := range clients[1:] {
			joins = append(joins, c.joining())
		}
		joins = append(joins, clients[0].joining())
	}
	for _, j := range joins {
		require.Equal(w.t, group.None, j.answer().Code)
	}
	var assignments []string
	for i, c := range clients {
		assignments = append(assignments, c.id, fmt.Sprint("part-", i+1))
	}
	syncs := []*parked[group.SyncResponse]{clients[0].syncing(assignments...)}
	for _, c := range clients[1:] {
		syncs = append(syncs, c.syncing())
	}
	for i, s := range syncs {
		require.Equal(w.t, fmt.Sprint("part-", i+1), string(s.answer().Assignment))
	}
}

func (w *world) state(g string) group.State { return w.c.Describe(g).State }

// commit commits an offset of topic-0.
func (w *world) commit(r group.CommitRequest, offset int64) *parked[[]group.Committed] {
	p := &parked[[]group.Committed]{t: w.t}
	if r.Offsets == nil {
		r.Offsets = []group.Commit{{TopicPartition: group.TopicPartition{Topic: "topic"}, Offset: offset, LeaderEpoch: -1}}
	}
	w.c.Commit(w.now, r, p.reply)
	return p
}

func simple(g string) group.CommitRequest {
	return group.CommitRequest{Version: 9, Group: g, Generation: -1}
}

func (c *client) commit() group.CommitRequest {
	return group.CommitRequest{Version: 9, Group: c.group, MemberID: c.id, InstanceID: c.instance, Generation: c.generation}
}

func (w *world) offset(g string) int64 {
	list, code := w.c.Fetch(g, []group.TopicPartition{{Topic: "topic"}}, false)
	require.Equal(w.t, group.None, code)
	return list[0].Offset.Offset
}
