package assign_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group/assign"
)

func member(id string, topics ...string) assign.Member {
	return assign.Member{ID: id, Subscription: assign.Subscription{Topics: topics, Generation: assign.NoGeneration}}
}

func tps(topic string, partitions ...int32) (list []assign.TopicPartition) {
	for _, p := range partitions {
		list = append(list, assign.TopicPartition{Topic: topic, Partition: p})
	}
	return list
}

var bothSticky = []assign.Assignor{assign.Sticky{}, assign.CooperativeSticky{}}

// having says what a member had.
func having(a assign.Assignor, m assign.Member, generation int32, owned ...assign.TopicPartition) assign.Member {
	m.Owned, m.Generation = owned, generation
	m.UserData = a.UserData(owned, generation)
	return m
}

// TestWhoSubscribesToNothingGetsNothing: as to whom Kafka's sticky assignors
// compare the others, if it comes first.
func TestWhoSubscribesToNothingGetsNothing(t *testing.T) {
	for name, a := range assign.Assignors() {
		got := a.Assign(assign.Topics{"t": {Partitions: 4}}, []assign.Member{member("m-a"), member("m-b", "t")})
		require.Empty(t, got["m-a"], name)
		require.Len(t, got["m-b"], 4, name)
	}
}

// TestPartitionsThatAreGone: of a topic made anew with fewer partitions nobody
// keeps those beyond its end, and the others have one owner each.
func TestPartitionsThatAreGone(t *testing.T) {
	for _, a := range bothSticky {
		got := a.Assign(assign.Topics{"t": {Partitions: 2}}, []assign.Member{
			having(a, member("m-a", "t"), 3, tps("t", 4, 0)...), having(a, member("m-b", "t"), 3, tps("t", 1, 5)...)})
		require.Equal(t, map[string][]assign.TopicPartition{"m-a": tps("t", 0), "m-b": tps("t", 1)}, got, a.Name())
	}
}

// TestFormerOwnerWithoutSubscription: a partition goes back to who had it in an
// earlier generation only if that one still subscribes to the topic.
func TestFormerOwnerWithoutSubscription(t *testing.T) {
	a := assign.Sticky{}
	got := a.Assign(assign.Topics{"t": {Partitions: 4}, "u": {Partitions: 1}, "v": {Partitions: 1}}, []assign.Member{
		having(a, member("m-a", "u", "v"), 1, tps("t", 0, 1, 2, 3)...),
		having(a, member("m-b", "t", "u"), 2, tps("t", 0, 1, 2, 3)...),
		member("m-c", "t", "v")})
	for _, tp := range got["m-a"] {
		require.NotEqual(t, "t", tp.Topic)
	}
	require.Len(t, append(append(got["m-a"], got["m-b"]...), got["m-c"]...), 6)
}

// TestTwoClaimsOfOneGeneration: both lose the partition, and cooperatively it
// has no owner in this round.
func TestTwoClaimsOfOneGeneration(t *testing.T) {
	a := assign.CooperativeSticky{}
	topics := assign.Topics{"t": {Partitions: 2}}
	got := a.Assign(topics, []assign.Member{
		having(a, member("m-a", "t"), 5, tps("t", 0, 1)...), having(a, member("m-b", "t"), 5, tps("t", 0)...)})
	require.Equal(t, map[string][]assign.TopicPartition{"m-a": tps("t", 1), "m-b": nil}, got)
}

// TestClaimOfAnOlderGeneration loses against a newer one.
func TestClaimOfAnOlderGeneration(t *testing.T) {
	for _, a := range bothSticky {
		got := a.Assign(assign.Topics{"t": {Partitions: 2}}, []assign.Member{
			having(a, member("m-a", "t"), 4, tps("t", 0, 1)...), having(a, member("m-b", "t"), 5, tps("t", 0)...)})
		require.Equal(t, map[string][]assign.TopicPartition{"m-a": tps("t", 1), "m-b": tps("t", 0)}, got, a.Name())
	}
}

// TestUserDataOfOtherVersions: of version 0, without a generation, and what is
// no user data at all.
func TestUserDataOfOtherVersions(t *testing.T) {
	a := assign.Sticky{}
	old := member("m-b", "t")
	old.UserData = []byte{0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 0} // t-0
	got := a.Assign(assign.Topics{"t": {Partitions: 2}}, []assign.Member{member("m-a", "t"), old})
	require.Equal(t, map[string][]assign.TopicPartition{"m-a": tps("t", 1), "m-b": tps("t", 0)}, got)
	for _, junk := range []string{"junk", "\x00\x00\x00\x02\x00\x01t", "\x7f\xff\xff\xff", "\xff\xff\xff\xff\xff"} {
		old.UserData = []byte(junk)
		got = a.Assign(assign.Topics{"t": {Partitions: 2}}, []assign.Member{member("m-a", "t"), old})
		require.Equal(t, map[string][]assign.TopicPartition{"m-a": tps("t", 0), "m-b": tps("t", 1)}, got, "%q", junk)
	}
}

// TestMalformed: bytes that are cut short are an error.
func TestMalformed(t *testing.T) {
	s := assign.Subscription{Topics: []string{"a", "b"}, Owned: tps("a", 1, 2), Generation: 7, Rack: "r"}
	b := s.Append(nil)
	for n := range len(b) {
		_, err := assign.ParseSubscription(b[:n])
		require.Error(t, err, "%d bytes", n)
	}
	back, err := assign.ParseSubscription(b)
	require.NoError(t, err)
	require.Equal(t, s, back)
	b = assign.AppendAssignment(nil, tps("a", 1, 2))
	for n := 1; n < len(b); n++ {
		_, err := assign.ParseAssignment(b[:n])
		require.Error(t, err, "%d bytes", n)
	}
	none, err := assign.ParseAssignment(nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestNobody: no members, no partitions, none of both.
func TestNobody(t *testing.T) {
	for name, a := range assign.Assignors() {
		require.Empty(t, a.Assign(assign.Topics{"t": {Partitions: 1}}, nil), name)
		require.Equal(t, map[string][]assign.TopicPartition{"m": nil}, a.Assign(nil, []assign.Member{member("m", "t")}), name)
	}
}
