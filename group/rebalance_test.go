package group_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
)

// TestInitialDelay: members that start together are in one generation. The delay
// is begun anew as long as somebody joins in it, up to the rebalance timeout.
func TestInitialDelay(t *testing.T) {
	w := newWorld(t, group.Config{InitialRebalanceDelay: 3 * time.Second})
	a, b, c := w.client("c1", "g"), w.client("c2", "g"), w.client("c3", "g")
	pa := a.identified().joining()
	w.pass(2 * time.Second)
	pb := b.identified().joining()
	w.pass(2 * time.Second)
	pa.waits()
	pc := c.identified().joining()
	w.pass(5*time.Second - 1)
	pa.waits()
	w.pass(1)
	require.Len(t, pa.answer().Members, 3)
	require.EqualValues(t, 1, pa.answer().Generation)
	pb.answer()
	pc.answer()

	// With 8 s at most: 3 and 3 and 2.
	var joins []*parked[group.JoinResponse]
	for range 8 {
		m := w.client("c", "h")
		m.rebalance = 8 * time.Second
		joins = append(joins, m.identified().joining())
		w.pass(time.Second - 1)
		joins[0].waits()
		w.pass(1)
	}
	require.Len(t, joins[0].answer().Members, 8)
}

// TestRebalanceTimeout: dynamic members that do not rejoin are thrown out.
func TestRebalanceTimeout(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b, c := w.client("c1", "g"), w.client("c2", "g"), w.client("c3", "g")
	for _, m := range []*client{a, b, c} {
		m.session, m.rebalance = 10*time.Second, 1500*time.Millisecond
	}
	w.formed(a, b)
	pc := c.identified().joining()
	pa := a.joining()
	w.pass(1499 * time.Millisecond)
	pa.waits()
	w.pass(time.Millisecond)
	require.Len(t, pa.answer().Members, 2)
	require.EqualValues(t, 3, pc.answer().Generation)
	require.Equal(t, group.UnknownMemberID, b.beat())

	// The leader does not sync: it goes, and who waits is told to rejoin.
	ps := c.syncing()
	w.pass(1499 * time.Millisecond)
	ps.waits()
	w.pass(time.Millisecond)
	require.Equal(t, group.RebalanceInProgress, ps.answer().Code)
	d := w.c.Describe("g")
	require.Equal(t, group.PreparingRebalance, d.State)
	require.Len(t, d.Members, 1)
	require.Equal(t, c.id, d.Members[0].MemberID)
}

// TestStaticMembersStayInRebalances: until their sessions end.
func TestStaticMembersStayInRebalances(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, s := w.client("c1", "g"), w.static("c2", "g", "i1")
	a.rebalance, s.rebalance, s.session = time.Second, time.Second, 20*time.Second
	w.formed(a, s)
	pa := a.joining()
	w.pass(time.Second)
	require.Len(t, pa.answer().Members, 2, "the static member is in the next generation")
	a.syncing(a.id, "1", s.id, "2").answer()
	require.Equal(t, group.Stable, w.state("g"))
	w.pass(time.Second)
	require.Equal(t, group.RebalanceInProgress, a.beat(), "it did not sync: it goes")
	require.Len(t, w.c.Describe("g").Members, 1)
}

// TestNobodyRejoins: a group of static members waits for them, again and again.
func TestNobodyRejoins(t *testing.T) {
	w := newWorld(t, group.Config{})
	s, u := w.static("c1", "g", "i1"), w.static("c2", "g", "i2")
	s.rebalance, s.session, u.rebalance, u.session = time.Second, 30*time.Second, time.Second, 10*time.Second
	w.formed(s, u)
	d := w.client("c3", "g").identified()
	require.Equal(t, group.None, d.leave())
	require.Equal(t, group.PreparingRebalance, w.state("g"))
	w.pass(3 * time.Second)
	require.Equal(t, group.PreparingRebalance, w.state("g"))
	ps := s.joining()
	w.pass(time.Second)
	require.EqualValues(t, s.generation, ps.answer().Generation)
	require.Equal(t, group.CompletingRebalance, w.state("g"))
}

// TestSessionExpires: the member goes, the others rebalance; the last one leaves
// the group empty.
func TestSessionExpires(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.session, b.session = 6*time.Second, 9*time.Second
	w.formed(a, b)
	for range 4 {
		w.pass(5 * time.Second)
		require.Equal(t, group.None, a.beat())
		require.Equal(t, group.None, b.beat())
	}
	w.pass(6*time.Second - 1)
	require.Equal(t, group.None, b.beat())
	w.pass(1)
	require.Equal(t, group.RebalanceInProgress, b.beat())
	require.Equal(t, group.UnknownMemberID, a.beat())
	r := b.joining().answer()
	require.Equal(t, b.id, r.Leader, "another leader")
	b.syncing(b.id, "all").answer()
	w.pass(9 * time.Second)
	require.Equal(t, group.UnknownMemberID, b.beat())
	d := w.c.Describe("g")
	require.Equal(t, group.Description{Group: "g", State: group.Empty, ProtocolType: "consumer"}, d)
}

// TestNoSessionWhileParked: who waits for us does not expire meanwhile.
func TestNoSessionWhileParked(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.session, b.session = 10*time.Second, 50*time.Second
	w.formed(a, b)
	pa := a.joining()
	w.pass(40 * time.Second)
	pa.waits()
	b.joining().answer()
	pa.answer()
	w.pass(10*time.Second - 1)
	require.Len(t, w.c.Describe("g").Members, 2, "its session begins with the answer")
	w.pass(1)
	require.Equal(t, group.UnknownMemberID, a.beat())
}

// TestNoSessionWhileSyncing: nor does who waits for its assignment.
func TestNoSessionWhileSyncing(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.session, b.session = 50*time.Second, 10*time.Second
	w.formed(a, b)
	pa := a.joining()
	b.joining().answer()
	pa.answer()
	ps := b.syncing()
	w.pass(40 * time.Second)
	ps.waits()
	a.syncing(b.id, "b").answer()
	require.Equal(t, "b", string(ps.answer().Assignment))
	w.pass(10*time.Second - 1)
	require.Len(t, w.c.Describe("g").Members, 2, "its session begins with the answer")
	w.pass(1)
	require.Equal(t, group.UnknownMemberID, b.beat())
}

// TestCommitsTouchWhileRebalancing: a member that has not rejoined yet is there
// as long as it commits.
func TestCommitsTouchWhileRebalancing(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.session = 10 * time.Second
	w.formed(b, a)
	pb := b.joining()
	for range 5 {
		w.pass(9 * time.Second)
		require.Equal(t, group.None, w.commit(a.commit(), 1).answer()[0].Code)
	}
	pb.waits()
}

// TestOldRebalancesAreOver: the time of one does not end the next.
func TestOldRebalancesAreOver(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.session, b.session = 10*time.Minute, 10*time.Minute
	w.formed(a, b)
	pa := a.joining()
	w.pass(10 * time.Second)
	b.joining().answer()
	pa.answer()
	a.syncing().answer()
	b.syncing().answer()
	pa = a.joining()
	w.pass(59 * time.Second)
	pa.waits()
	w.pass(time.Second)
	require.Len(t, pa.answer().Members, 1)
}

// TestTouch: joins, syncs and commits keep a session alive.
func TestTouch(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.session, b.session = 10*time.Second, 30*time.Second
	w.formed(b, a)
	for _, call := range []func(){
		func() { w.commit(a.commit(), 1).answer() },
		func() { a.syncing().answer() },
		func() { a.joining().answer() },
		func() { a.beat() },
	} {
		w.pass(9 * time.Second)
		call()
		b.beat()
	}
	w.pass(9 * time.Second)
	require.Equal(t, group.None, a.beat())
}

// TestLeave: alone, together, twice, by instance id, unknown.
func TestLeave(t *testing.T) {
	w := newWorld(t, group.Config{})
	leave := func(g string, members ...group.Leaver) []group.Code {
		r := w.c.Leave(w.now, group.LeaveRequest{Group: g, Members: members})
		if r.Code != group.None {
			return []group.Code{r.Code}
		}
		codes := []group.Code{}
		for _, m := range r.Members {
			codes = append(codes, m.Code)
		}
		return codes
	}
	i1, i9 := "i1", "i9"
	require.Equal(t, []group.Code{group.UnknownMemberID}, leave("nothing", group.Leaver{MemberID: "nobody"}))
	require.Equal(t, []group.Code{group.InvalidGroupID}, leave(""))
	a, b, s := w.client("c1", "g"), w.client("c2", "g"), w.static("c3", "g", i1)
	w.formed(a, b, s)
	require.Equal(t, []group.Code{group.UnknownMemberID, group.UnknownMemberID, group.UnknownMemberID, group.UnknownMemberID, group.FencedInstanceID},
		leave("g", group.Leaver{MemberID: "nobody"}, group.Leaver{InstanceID: &i9}, group.Leaver{MemberID: a.id, InstanceID: &i9}, group.Leaver{},
			group.Leaver{MemberID: a.id, InstanceID: &i1}))
	require.Empty(t, leave("g"))
	require.Equal(t, group.None, a.beat(), "nobody left")
	require.Equal(t, []group.Code{group.UnknownMemberID, group.None}, leave("g", group.Leaver{MemberID: "nobody"}, group.Leaver{MemberID: b.id}))
	require.Equal(t, group.RebalanceInProgress, a.beat())
	require.Equal(t, []group.Code{group.None}, leave("g", group.Leaver{InstanceID: &i1}))
	require.Equal(t, []group.Code{group.None, group.UnknownMemberID}, leave("g", group.Leaver{MemberID: a.id}, group.Leaver{MemberID: a.id}))
	require.Equal(t, group.Empty, w.state("g"))
}

// TestLeavingWhileOthersWait: what waits of the one that leaves is answered, and
// the others go on.
func TestLeavingWhileOthersWait(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	w.formed(a, b)
	pa := a.joining()
	require.Equal(t, group.None, b.leave())
	require.EqualValues(t, 3, pa.answer().Generation)
	pa = a.joining()
	require.EqualValues(t, 3, pa.answer().Generation, "the same again before the sync")
	c := w.client("c3", "g").identified()
	pc := c.joining()
	pc.waits()
	require.Equal(t, group.None, c.leave())
	require.Equal(t, group.UnknownMemberID, pc.answer().Code)

	w = newWorld(t, group.Config{})
	a, b = w.client("c1", "g"), w.client("c2", "g")
	w.formed(a, b)
	pa = a.joining()
	b.joining().answer()
	pa.answer()
	ps := b.syncing()
	require.Equal(t, group.None, b.leave())
	require.Equal(t, group.UnknownMemberID, ps.answer().Code)
}

// TestCooperative: two rebalances in a row, the second by who gave something up.
func TestCooperative(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.protocols, b.protocols = speaks("cooperative-sticky", "t"), speaks("cooperative-sticky", "t")
	w.formed(a, b)
	require.EqualValues(t, 2, a.generation)
	b.protocols = speaks("cooperative-sticky", "t", "owns less now")
	pb := b.joining()
	require.Equal(t, group.RebalanceInProgress, a.beat())
	require.Equal(t, group.None, w.commit(a.commit(), 7).answer()[0].Code, "the others go on consuming and committing")
	require.EqualValues(t, 3, a.joining().answer().Generation)
	pb.answer()
}
