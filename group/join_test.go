package group_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
)

func code(c *client, change func(*group.JoinRequest)) group.JoinResponse {
	r := c.request()
	change(&r)
	p := &parked[group.JoinResponse]{t: c.w.t}
	c.w.c.Join(c.w.now, r, p.reply)
	return p.answer()
}

// TestJoinRefusals: what Kafka 4.4 answers, with its member ids.
func TestJoinRefusals(t *testing.T) {
	w := newWorld(t, group.Config{})
	for name, tc := range map[string]struct {
		change func(*group.JoinRequest)
		want   group.JoinResponse
	}{
		"empty group":           {func(r *group.JoinRequest) { r.Group = "" }, group.JoinResponse{Code: group.InvalidGroupID}},
		"short session":         {func(r *group.JoinRequest) { r.SessionTimeout = 5999 * time.Millisecond }, group.JoinResponse{Code: group.InvalidSessionTimeout}},
		"long session":          {func(r *group.JoinRequest) { r.SessionTimeout = 30*time.Minute + 1 }, group.JoinResponse{Code: group.InvalidSessionTimeout}},
		"no session":            {func(r *group.JoinRequest) { r.SessionTimeout = -1 }, group.JoinResponse{Code: group.InvalidSessionTimeout}},
		"unknown id":            {func(r *group.JoinRequest) { r.MemberID = "nobody" }, group.JoinResponse{Code: group.UnknownMemberID, MemberID: "nobody"}},
		"no protocols":          {func(r *group.JoinRequest) { r.Protocols = nil }, group.JoinResponse{Code: group.InconsistentGroupProtocol}},
		"no protocol type":      {func(r *group.JoinRequest) { r.ProtocolType = "" }, group.JoinResponse{Code: group.InconsistentGroupProtocol}},
		"static and unknown id": {func(r *group.JoinRequest) { i := "i1"; r.InstanceID, r.MemberID = &i, "nobody" }, group.JoinResponse{Code: group.UnknownMemberID, MemberID: "nobody"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.want.Generation = -1
			require.Equal(t, tc.want, code(w.client("c1", name), tc.change))
		})
	}
	a := w.client("c1", "there")
	w.formed(a)
	for name, change := range map[string]func(*group.JoinRequest){
		"other type":     func(r *group.JoinRequest) { r.ProtocolType = "connect" },
		"other protocol": func(r *group.JoinRequest) { r.Protocols = speaks("sticky", "t") },
	} {
		require.Equal(t, group.JoinResponse{Code: group.InconsistentGroupProtocol, Generation: -1}, code(w.client("c2", "there"), change), name)
	}
	// Its own list counts as well: alone, and still not.
	a.protocols = speaks("sticky", "t")
	require.Equal(t, group.InconsistentGroupProtocol, a.joining().answer().Code)
	for _, at := range []time.Duration{6 * time.Second, 30 * time.Minute} {
		require.Equal(t, group.MemberIDRequired, code(w.client("c2", "bounds"), func(r *group.JoinRequest) { r.SessionTimeout = at }).Code)
	}
}

// TestMemberIDRequired from version 4 on, for dynamic members.
func TestMemberIDRequired(t *testing.T) {
	w := newWorld(t, group.Config{})
	for version := range int16(10) {
		c := w.client("c1", string(rune('a'+version)))
		c.version = version
		if version >= 4 {
			r := c.joining().answer()
			require.Equal(t, group.JoinResponse{Code: group.MemberIDRequired, Generation: -1, MemberID: r.MemberID}, r)
			c.id = r.MemberID
		}
		r := c.joining().answer()
		require.Equal(t, group.JoinResponse{Generation: 1, ProtocolType: "consumer", Protocol: "range", Leader: c.id, MemberID: c.id,
			Members: []group.JoinedMember{{MemberID: c.id, Metadata: c.protocols[0].Metadata}}}, r)
		require.Contains(t, c.id, "c1-")
	}
}

// TestVote: each member's first protocol of those that all know; most win.
func TestVote(t *testing.T) {
	w := newWorld(t, group.Config{})
	list := func(names ...string) (p []group.Protocol) {
		for _, n := range names {
			p = append(p, speaks(n, "x")...)
		}
		return p
	}
	a, b, c := w.client("c1", "g"), w.client("c2", "g"), w.client("c3", "g")
	a.protocols, b.protocols, c.protocols = list("one", "two", "three"), list("three", "two"), list("two", "three")
	a.identified().joining().answer()
	pb, pc := b.identified().joining, c.identified().joining
	jb, jc := pb(), pc()
	ja := a.joining().answer()
	require.Equal(t, "two", ja.Protocol)
	require.Len(t, ja.Members, 3)
	for _, j := range []group.JoinResponse{jb.answer(), jc.answer()} {
		require.Equal(t, "two", j.Protocol)
		require.Equal(t, a.id, j.Leader)
		require.Empty(t, j.Members, "only the leader gets the members")
		require.EqualValues(t, 2, j.Generation)
	}
	d := w.client("c4", "g")
	d.protocols = list("one")
	require.Equal(t, group.InconsistentGroupProtocol, d.joining().answer().Code)
}

// TestRejoin: in each state, with the same and with changed metadata.
func TestRejoin(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	w.formed(a, b)

	r := b.joining().answer()
	require.Equal(t, group.JoinResponse{Generation: 2, ProtocolType: "consumer", Protocol: "range", Leader: a.id, MemberID: b.id}, r,
		"a follower with the same metadata does not rebalance")
	require.Equal(t, group.None, a.beat())

	b.protocols = speaks("range", "changed")
	pb := b.joining()
	require.Equal(t, group.RebalanceInProgress, a.beat())
	require.Equal(t, group.RebalanceInProgress, b.beat())
	require.Equal(t, group.RebalanceInProgress, a.syncing().answer().Code)
	pb.waits()
	ra := a.joining().answer()
	require.EqualValues(t, 3, ra.Generation)
	require.Len(t, ra.Members, 2)
	require.Equal(t, b.protocols[0].Metadata, ra.Members[1].Metadata)
	require.Empty(t, pb.answer().Members)

	require.Equal(t, group.None, a.beat(), "a heartbeat before the sync is answered")
	require.Equal(t, ra, a.joining().answer(), "the same again before the sync is the same generation")
	require.EqualValues(t, 3, b.joining().answer().Generation)
	waiting := b.syncing()
	waiting.waits()
	require.Equal(t, group.CompletingRebalance, w.state("g"))
	require.Equal(t, "one", string(a.syncing(a.id, "one", b.id, "two").answer().Assignment))
	require.Equal(t, "two", string(waiting.answer().Assignment))
	require.Equal(t, "two", string(b.syncing().answer().Assignment))

	pa := a.joining()
	require.Equal(t, group.RebalanceInProgress, b.beat(), "a leader's rejoin always rebalances")
	d := w.c.Describe("g")
	require.Equal(t, group.PreparingRebalance, d.State)
	require.Empty(t, d.Protocol)
	require.Empty(t, d.Members[0].Metadata)
	require.Equal(t, "one", string(d.Members[0].Assignment), "the last generation's")
	pa.waits()
	b.joining().answer()
	pa.answer()

	waiting = b.syncing()
	c := w.client("c4", "g").identified()
	pc := c.joining()
	require.Equal(t, group.RebalanceInProgress, waiting.answer().Code, "a new rebalance ends the parked syncs")
	require.Empty(t, w.c.Describe("g").Members[0].Assignment, "and takes the assignments back")
	pa, pb = a.joining(), b.joining()
	require.Len(t, pa.answer().Members, 3)
	require.EqualValues(t, 5, pc.answer().Generation)
	require.Equal(t, a.id, pb.answer().Leader, "the leader stays as long as it rejoins")
}

// TestPending: those who have an id and did not join with it.
func TestPending(t *testing.T) {
	w := newWorld(t, group.Config{})
	p := w.client("c1", "g").identified()
	require.Equal(t, group.Empty, w.state("g"))
	require.Equal(t, group.UnknownMemberID, p.beat())
	require.Equal(t, group.UnknownMemberID, p.syncing().answer().Code)
	r := p.commit()
	r.Generation = 0
	require.Equal(t, group.UnknownMemberID, w.commit(r, 1).answer()[0].Code)

	a := w.client("c2", "g").identified()
	require.EqualValues(t, 1, a.joining().answer().Generation, "the first rebalance without delay leaves out who has only an id")
	a.syncing(a.id, "x").answer()

	b := w.client("c3", "g").identified()
	pb, pa := b.joining(), a.joining()
	w.pass(time.Second)
	pb.waits()
	pa.waits()
	require.Equal(t, group.None, p.leave())
	require.EqualValues(t, 2, pa.answer().Generation, "a later one waits for the pending")
	pb.answer()
	require.Equal(t, group.UnknownMemberID, p.joining().answer().Code)
}

// TestPendingExpires: an id that is not used within a session holds nobody back
// any more.
func TestPendingExpires(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c2", "g"), w.client("c3", "g")
	w.formed(a)
	p := w.client("c1", "g")
	p.session = 10 * time.Second
	p.identified()
	pb, pa := b.identified().joining(), a.joining()
	w.pass(10*time.Second - 1)
	pa.waits()
	w.pass(1)
	pa.answer()
	pb.answer()
	require.Equal(t, group.UnknownMemberID, p.joining().answer().Code)
}

// TestLeavingPendingRebalances a stable group, as in Kafka.
func TestLeavingPendingRebalances(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.client("c2", "g")
	w.formed(a)
	p := w.client("c1", "g").identified()
	require.Equal(t, group.None, p.leave())
	require.Equal(t, group.RebalanceInProgress, a.beat())
}

// TestMaxSize: a full group takes nobody new; one that is above the limit after a
// restart shrinks.
func TestMaxSize(t *testing.T) {
	w := newWorld(t, group.Config{MaxSize: 2})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	w.formed(a, b)
	require.Equal(t, group.JoinResponse{Code: group.GroupMaxSizeReached, Generation: -1}, w.client("c3", "g").joining().answer())
	require.Equal(t, group.None, a.beat())
	pa, pb := a.joining(), b.joining()
	require.EqualValues(t, 3, pa.answer().Generation)
	pb.answer()
	a.syncing(a.id, "1", b.id, "2").answer()

	w.config.MaxSize = 1
	w.restart()
	require.Equal(t, group.PreparingRebalance, w.state("g"))
	pb = b.joining()
	require.Equal(t, group.GroupMaxSizeReached, a.joining().answer().Code)
	require.Equal(t, b.id, pb.answer().Leader)
	require.Len(t, w.c.Describe("g").Members, 1)
}

// TestJoinWithoutIDTimesOut: before version 4 a member does not know its id
// until its join is answered; after five minutes it is given up.
func TestJoinWithoutIDTimesOut(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.client("c1", "g")
	a.rebalance = 20 * time.Minute
	w.formed(a)
	ghost := w.client("c2", "g")
	ghost.version = 3
	p := ghost.joining()
	for range 5*60/10 - 1 {
		w.pass(10 * time.Second)
		require.Equal(t, group.RebalanceInProgress, a.beat())
	}
	p.waits()
	w.pass(10 * time.Second)
	require.Equal(t, group.UnknownMemberID, p.answer().Code)
	require.EqualValues(t, 3, a.joining().answer().Generation+1)
}

// TestSecondJoinEndsTheFirst: of a member that reconnected, so that no answer is
// kept for a connection that is gone.
func TestSecondJoinEndsTheFirst(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	w.formed(a, b)
	first := a.joining()
	second := a.joining()
	require.Equal(t, group.RebalanceInProgress, first.answer().Code)
	b.joining().answer()
	require.Equal(t, group.None, second.answer().Code)
	s1 := b.syncing()
	s2 := b.syncing()
	require.Equal(t, group.RebalanceInProgress, s1.answer().Code)
	a.syncing(b.id, "b").answer()
	require.Equal(t, "b", string(s2.answer().Assignment))
}

// TestPendingIDOfAStaticMember: an id that was given to a dynamic member is none
// of a static one.
func TestPendingIDOfAStaticMember(t *testing.T) {
	w := newWorld(t, group.Config{})
	p := w.client("c1", "g").identified()
	i1 := "i1"
	p.instance = &i1
	require.Equal(t, group.UnknownMemberID, p.joining().answer().Code)
	p.instance = nil
	require.Equal(t, group.None, p.joining().answer().Code)
}
