package group_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
)

// again is a static member that lost its id.
func (c *client) again() *client {
	n := *c
	n.id = ""
	return &n
}

// TestStaticReplacement: with the same protocol nobody rebalances. Below version
// 9 the answer names the old leader, from then on it says not to assign.
func TestStaticReplacement(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.static("c1", "g", "i1")
	r := a.joining().answer()
	require.EqualValues(t, 1, r.Generation, "no MEMBER_ID_REQUIRED for static members")
	require.Contains(t, r.MemberID, "i1-")
	require.Equal(t, a.instance, r.Members[0].InstanceID)
	a.syncing(a.id, "one").answer()

	b := a.again()
	r = b.joining().answer()
	require.Equal(t, group.JoinResponse{Generation: 1, ProtocolType: "consumer", Protocol: "range", Leader: a.id, MemberID: b.id}, r)
	require.NotEqual(t, a.id, b.id)
	require.Equal(t, group.FencedInstanceID, a.beat())
	require.Equal(t, group.FencedInstanceID, a.syncing().answer().Code)
	require.Equal(t, group.FencedInstanceID, w.commit(a.commit(), 1).answer()[0].Code)
	require.Equal(t, group.JoinResponse{Code: group.FencedInstanceID, Generation: -1, MemberID: a.id}, a.joining().answer())
	require.Equal(t, group.FencedInstanceID, a.leave())
	require.Equal(t, "one", string(b.syncing().answer().Assignment))

	c := b.again()
	c.version = 9
	r = c.joining().answer()
	require.Equal(t, group.JoinResponse{Generation: 1, ProtocolType: "consumer", Protocol: "range", Leader: c.id, MemberID: c.id, SkipAssignment: true,
		Members: []group.JoinedMember{{MemberID: c.id, InstanceID: c.instance, Metadata: c.protocols[0].Metadata}}}, r)
	require.Equal(t, "one", string(c.syncing().answer().Assignment))
	require.Equal(t, group.None, w.c.Heartbeat(w.now, group.HeartbeatRequest{Group: "g", MemberID: c.id, Generation: 1}), "without the instance id")

	require.EqualValues(t, 2, c.joining().answer().Generation, "the leader with its id rebalances")
	d := c.again()
	d.protocols = speaks("range", "changed")
	require.EqualValues(t, 3, d.joining().answer().Generation, "before the sync a replacement rebalances")
	d.syncing(d.id, "two").answer()
	e := d.again()
	e.protocols = speaks("sticky", "changed")
	require.Equal(t, group.InconsistentGroupProtocol, e.joining().answer().Code)
	require.Equal(t, group.None, d.beat(), "it is as it was")
}

// TestStaticPair: the others notice nothing.
func TestStaticPair(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.static("c1", "g", "i1"), w.static("c2", "g", "i2")
	w.formed(a, b)
	b2 := b.again()
	r := b2.joining().answer()
	require.Equal(t, a.id, r.Leader)
	require.Empty(t, r.Members)
	require.Equal(t, "part-2", string(b2.syncing().answer().Assignment))
	a2 := a.again()
	require.Equal(t, a.id, a2.joining().answer().Leader, "the old id")
	a3 := a2.again()
	a3.version = 9
	r = a3.joining().answer()
	require.True(t, r.SkipAssignment)
	require.Len(t, r.Members, 2)
	require.Equal(t, group.None, b2.beat())
	b3 := b2.again()
	b3.version = 9
	require.False(t, b3.joining().answer().SkipAssignment, "a follower would not assign anyway")
}

// TestStaticReplacementChangesTheVote: then all rebalance.
func TestStaticReplacementChangesTheVote(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.static("c1", "g", "i1")
	a.protocols = append(speaks("range", "t"), speaks("sticky", "t")...)
	w.formed(a)
	b := a.again()
	b.protocols = append(speaks("sticky", "t"), speaks("range", "t")...)
	r := b.joining().answer()
	require.EqualValues(t, 2, r.Generation)
	require.Equal(t, "sticky", r.Protocol)
	require.Equal(t, b.id, r.Leader)
}

// TestStaticReplacementWhileJoining: the one that waits is fenced.
func TestStaticReplacementWhileJoining(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.static("c1", "g", "i1"), w.client("c2", "g")
	w.formed(a, b)
	pa := a.joining()
	a2 := a.again()
	pa2 := a2.joining()
	require.Equal(t, group.JoinResponse{Code: group.FencedInstanceID, Generation: -1, MemberID: a.id}, pa.answer())
	b.joining().answer()
	require.Equal(t, group.None, pa2.answer().Code)

	// The same of one that waits for its assignment.
	w = newWorld(t, group.Config{})
	b, a = w.client("c2", "g"), w.static("c1", "g", "i1")
	w.formed(b, a)
	pb := b.joining()
	a.joining().answer()
	pb.answer()
	ps := a.syncing()
	a2 = a.again()
	pa2 = a2.joining()
	require.Equal(t, group.FencedInstanceID, ps.answer().Code)
	require.Equal(t, group.RebalanceInProgress, b.beat())
	b.joining().answer()
	require.Equal(t, group.None, pa2.answer().Code)
}

// TestStaticReplacementHasToSync like the one before it, which had not.
func TestStaticReplacementHasToSync(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.static("c2", "g", "i1")
	a.rebalance, b.rebalance = 20*time.Second, 20*time.Second
	w.formed(a, b)
	pa := a.joining()
	b.joining().answer()
	pa.answer()
	a.syncing(a.id, "1", b.id, "2").answer()
	b2 := b.again()
	require.EqualValues(t, a.generation, b2.joining().answer().Generation)
	w.pass(20 * time.Second)
	require.Equal(t, group.UnknownMemberID, b2.beat())
}

// TestStaticReplacementIsDurable before it is answered, and undone if it is not
// written.
func TestStaticReplacementIsDurable(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.static("c1", "g", "i1")
	a.session = 20 * time.Second
	w.formed(a)
	w.hold = true
	b := a.again()
	pb := b.joining()
	pb.waits()
	w.flush()
	require.Equal(t, group.None, pb.answer().Code)

	c := b.again()
	pc := c.joining()
	w.refuse = group.NotEnoughReplicas
	w.flush()
	require.Equal(t, group.JoinResponse{Code: group.CoordinatorNotAvailable, Generation: -1}, pc.answer())
	require.Equal(t, group.None, b.beat(), "the one before is still there")
	w.refuse, w.hold = group.None, false
	w.pass(20*time.Second - 1)
	require.Equal(t, group.Stable, w.state("g"))
	w.pass(1)
	require.Equal(t, group.Empty, w.state("g"), "and has its session")

	// The one before may have run out of time meanwhile.
	w = newWorld(t, group.Config{})
	a = w.static("c1", "g", "i1")
	a.session = 20 * time.Second
	w.formed(a)
	w.hold = true
	pb = a.again().joining()
	w.pass(30 * time.Second)
	w.refuse = group.NotEnoughReplicas
	w.flush()
	require.Equal(t, group.CoordinatorNotAvailable, pb.answer().Code)
	w.pass(0)
	require.Equal(t, group.Empty, w.state("g"))

	// A rebalance that begins meanwhile answers it.
	w = newWorld(t, group.Config{})
	a, d := w.static("c1", "g", "i1"), w.client("c2", "g")
	w.formed(a, d)
	w.hold = true
	b = a.again()
	pb = b.joining()
	d.protocols = speaks("range", "other")
	pd := d.joining()
	require.EqualValues(t, 3, pb.answer().Generation, "both have joined")
	pd.answer()
	w.flush()
	require.Equal(t, group.CompletingRebalance, w.state("g"))
}

// TestStaticRestartWithinItsSession: who comes back before its session ends gets
// what it had, and its session is a new one.
func TestStaticRestartWithinItsSession(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.static("c1", "g", "i1"), w.static("c2", "g", "i2")
	a.session, b.session = time.Minute, 10*time.Second
	w.formed(a, b)
	w.pass(9 * time.Second)
	b2 := b.again()
	require.EqualValues(t, 2, b2.joining().answer().Generation)
	w.pass(9 * time.Second)
	require.Equal(t, group.None, a.beat())
	require.Equal(t, "part-2", string(b2.syncing().answer().Assignment))
}
