package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
)

// TestPartition: as Kafka's groupPartitionFor, Java's hash code.
func TestPartition(t *testing.T) {
	for name, want := range map[string]int32{"": 0, "a": 47, "my-group": 12, "𝄞": 44, "polygenelubricants": 0} {
		require.Equal(t, want, group.Partition(name, 50), "%q", name)
	}
}

// TestDescribeAndList: names of states, filters whatever their case.
func TestDescribeAndList(t *testing.T) {
	w := newWorld(t, group.Config{})
	m := w.static("c1", "stable", "i1")
	w.formed(m)
	w.commit(simple("simple"), 1)
	require.Equal(t, group.Description{Group: "nothing", State: group.Dead}, w.c.Describe("nothing"))
	require.Equal(t, group.Description{Group: "stable", State: group.Stable, ProtocolType: "consumer", Protocol: "range",
		Members: []group.DescribedMember{{MemberID: m.id, InstanceID: m.instance, ClientID: "c1", ClientHost: "/127.0.0.1",
			Metadata: m.protocols[0].Metadata, Assignment: []byte("part-1")}}}, w.c.Describe("stable"))
	both := []group.Listed{{Group: "simple", State: group.Empty}, {Group: "stable", ProtocolType: "consumer", State: group.Stable}}
	for _, tc := range []struct {
		states, types []string
		want          []group.Listed
	}{
		{nil, nil, both},
		{[]string{"Stable"}, nil, both[1:]},
		{[]string{"stable"}, nil, both[1:]},
		{[]string{"Empty"}, nil, both[:1]},
		{[]string{"Stable", "Empty"}, []string{"Classic"}, both},
		{[]string{"Dead"}, nil, nil},
		{[]string{"NoSuchState"}, nil, nil},
		{nil, []string{"consumer"}, nil},
		{nil, []string{"consumer", "classic"}, both},
	} {
		list, code := w.c.List(tc.states, tc.types)
		require.Equal(t, group.None, code)
		require.Equal(t, tc.want, list, "%v %v", tc.states, tc.types)
	}
	require.Equal(t, "PreparingRebalance CompletingRebalance", group.PreparingRebalance.String()+" "+group.CompletingRebalance.String())
	require.Equal(t, "UNKNOWN_MEMBER_ID", group.UnknownMemberID.String())
	require.Equal(t, "error 12345", group.Code(12345).String())
}

// TestDelete: groups without members, with all their offsets.
func TestDelete(t *testing.T) {
	w := newWorld(t, group.Config{})
	del := func(ids ...string) *parked[[]group.Deleted] {
		p := &parked[[]group.Deleted]{t: t}
		w.c.Delete(w.now, ids, p.reply)
		return p
	}
	m := w.client("c1", "stable")
	w.formed(m)
	w.commit(m.commit(), 3)
	require.Equal(t, []group.Deleted{{"nothing", group.GroupIDNotFound}, {"stable", group.NonEmptyGroup}, {"", group.GroupIDNotFound}},
		del("nothing", "stable", "", "stable").answer())
	require.Empty(t, del().answer())
	m.leave()
	w.hold = true
	p := del("stable", "stable")
	p.waits()
	require.Equal(t, group.CoordinatorLoadInProgress, m.joining().answer().Code, "nobody comes in meanwhile")
	require.Equal(t, group.CoordinatorLoadInProgress, only(t, w.commit(simple("stable"), 1)))
	require.Equal(t, group.CoordinatorLoadInProgress, del("stable").answer()[0].Code)
	w.flush()
	require.Equal(t, []group.Deleted{{"stable", group.None}}, p.answer())
	require.Equal(t, group.Dead, w.state("stable"))
	require.EqualValues(t, -1, w.offset("stable"))

	w.hold = false
	w.commit(simple("kept"), 1)
	w.refuse = group.NotEnoughReplicas
	require.Equal(t, []group.Deleted{{"kept", group.CoordinatorNotAvailable}}, del("kept").answer())
	require.EqualValues(t, 1, w.offset("kept"))
	w.refuse = group.None
	require.Equal(t, group.None, only(t, w.commit(simple("kept"), 2)), "it goes on")

	// A commit that is on its way is deleted too.
	w.hold = true
	c := w.commit(simple("kept"), 3)
	p = del("kept")
	w.flush()
	require.Equal(t, group.None, only(t, c))
	require.Equal(t, group.None, p.answer()[0].Code)
	w.hold = false
	w.restart()
	require.EqualValues(t, -1, w.offset("kept"))
	w.commitTxn(simple("pending"), 7, 1)
	del("pending")
	w.end(7, true)
	require.EqualValues(t, -1, w.offset("pending"), "offsets of open transactions are lost with it")
	w.restart()
	require.EqualValues(t, -1, w.offset("pending"))
}
