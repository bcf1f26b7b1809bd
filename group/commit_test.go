package group_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
)

func only(t *testing.T, p *parked[[]group.Committed]) group.Code {
	t.Helper()
	require.Len(t, p.answer(), 1)
	return p.got[0].Code
}

// TestSimpleCommits: of who is in no group.
func TestSimpleCommits(t *testing.T) {
	w := newWorld(t, group.Config{})
	require.Equal(t, group.None, only(t, w.commit(simple("g"), 5)))
	require.EqualValues(t, 5, w.offset("g"))
	require.Equal(t, group.Description{Group: "g", State: group.Empty}, w.c.Describe("g"))
	require.Equal(t, group.None, only(t, w.commit(simple(""), 6)), "an empty name is a group's here")
	require.EqualValues(t, 6, w.offset(""))
	member := simple("g")
	member.MemberID = "nobody"
	require.Equal(t, group.None, only(t, w.commit(member, -5)), "any offset and any member id")
	require.EqualValues(t, -5, w.offset("g"))
	generation := simple("g")
	generation.Generation = 5
	require.Equal(t, group.UnknownMemberID, only(t, w.commit(generation, 1)))
	generation.Group = "nothing"
	require.Equal(t, group.GroupIDNotFound, only(t, w.commit(generation, 1)))
	generation.Version = 8
	require.Equal(t, group.IllegalGeneration, only(t, w.commit(generation, 1)))
	none := simple("g")
	none.Offsets = []group.Commit{}
	require.Empty(t, w.commit(none, 1).answer())
}

// TestCommitContents: metadata up to its limit, leader epochs, a partition twice.
func TestCommitContents(t *testing.T) {
	w := newWorld(t, group.Config{})
	one := group.TopicPartition{Topic: "topic", Partition: 1}
	r := simple("g")
	r.Offsets = []group.Commit{
		{TopicPartition: one, Offset: 1, LeaderEpoch: 3, Metadata: strings.Repeat("m", 4096)},
		{TopicPartition: group.TopicPartition{Topic: "topic"}, Offset: 2, LeaderEpoch: -1, Metadata: strings.Repeat("m", 4097)},
		{TopicPartition: group.TopicPartition{Topic: "other"}, Offset: 3, LeaderEpoch: -1},
		{TopicPartition: group.TopicPartition{Topic: "other"}, Offset: 77, LeaderEpoch: -1},
	}
	answers := w.commit(r, 0).answer()
	require.Equal(t, []group.Code{group.None, group.OffsetMetadataTooLarge, group.None, group.None},
		[]group.Code{answers[0].Code, answers[1].Code, answers[2].Code, answers[3].Code})
	require.Equal(t, one, answers[0].TopicPartition)
	list, code := w.c.FetchAll("g", false)
	require.Equal(t, group.None, code)
	require.Len(t, list, 2)
	require.EqualValues(t, 77, list[0].Offset.Offset)
	require.Equal(t, one, list[1].TopicPartition)
	require.EqualValues(t, 3, list[1].LeaderEpoch)
	require.Len(t, list[1].Metadata, 4096)
	require.Equal(t, w.now, list[1].Committed)
}

// TestMemberCommits in every state of the group.
func TestMemberCommits(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	a.identified().joining().answer()
	require.Equal(t, group.RebalanceInProgress, only(t, w.commit(a.commit(), 1)), "before the sync")
	a.syncing().answer()
	i9 := "i9"
	for name, tc := range map[string]struct {
		change func(*group.CommitRequest)
		want   group.Code
	}{
		"stable":                    {func(*group.CommitRequest) {}, group.None},
		"generation ahead":          {func(r *group.CommitRequest) { r.Generation++ }, group.IllegalGeneration},
		"generation behind":         {func(r *group.CommitRequest) { r.Generation-- }, group.IllegalGeneration},
		"unknown member":            {func(r *group.CommitRequest) { r.MemberID = "nobody" }, group.UnknownMemberID},
		"unknown instance":          {func(r *group.CommitRequest) { r.InstanceID = &i9 }, group.UnknownMemberID},
		"no member":                 {func(r *group.CommitRequest) { *r = simple("g") }, group.UnknownMemberID},
		"member without generation": {func(r *group.CommitRequest) { r.Generation = -1 }, group.IllegalGeneration},
		"generation without member": {func(r *group.CommitRequest) { r.MemberID = "" }, group.UnknownMemberID},
	} {
		r := a.commit()
		tc.change(&r)
		require.Equal(t, tc.want, only(t, w.commit(r, 1)), name)
	}
	pb := b.identified().joining()
	require.Equal(t, group.None, only(t, w.commit(a.commit(), 2)), "the last chance before the rebalance")
	a.joining().answer()
	pb.answer()
	require.Equal(t, group.RebalanceInProgress, only(t, w.commit(a.commit(), 3)))
	a.leave()
	b.leave()
	require.Equal(t, group.UnknownMemberID, only(t, w.commit(a.commit(), 4)))
	require.EqualValues(t, 2, w.offset("g"))
	require.Equal(t, group.None, only(t, w.commit(simple("g"), 9)))
}

// TestCommitIsDurable before it is answered or read.
func TestCommitIsDurable(t *testing.T) {
	w := newWorld(t, group.Config{})
	w.commit(simple("g"), 1)
	w.hold = true
	p := w.commit(simple("g"), 2)
	p.waits()
	require.EqualValues(t, 1, w.offset("g"))
	q := w.commit(simple("g"), 3)
	w.flush()
	require.Equal(t, group.None, only(t, p))
	require.Equal(t, group.None, only(t, q))
	require.EqualValues(t, 3, w.offset("g"))
	for logs, want := range map[group.Code]group.Code{
		group.NotLeaderOrFollower: group.NotCoordinator, group.NotEnoughReplicas: group.CoordinatorNotAvailable,
		group.MessageTooLarge: group.InvalidCommitOffsetSize, group.RecordListTooLarge: group.InvalidCommitOffsetSize,
	} {
		w.refuse = logs
		p = w.commit(simple("g"), 4)
		w.flush()
		require.Equal(t, want, only(t, p), logs)
	}
	require.EqualValues(t, 3, w.offset("g"))
}

// TestFetchOfNothing is no error.
func TestFetchOfNothing(t *testing.T) {
	w := newWorld(t, group.Config{})
	tp := group.TopicPartition{Topic: "topic", Partition: 77}
	want := []group.Fetched{{TopicPartition: tp, Offset: group.Offset{Offset: -1, LeaderEpoch: -1}}}
	for _, g := range []string{"nothing", "g"} {
		list, code := w.c.Fetch(g, []group.TopicPartition{tp}, true)
		require.Equal(t, group.None, code)
		require.Equal(t, want, list)
		list, code = w.c.FetchAll(g, true)
		require.Equal(t, group.None, code)
		require.Empty(t, list)
		w.commit(simple("g"), 1)
		w.c.DeleteOffsets(w.now, "g", []group.TopicPartition{{Topic: "topic"}}, func([]group.Committed, group.Code) {})
	}
}

func (w *world) commitTxn(r group.CommitRequest, producer, offset int64) group.Code {
	p := &parked[[]group.Committed]{t: w.t}
	r.Offsets = []group.Commit{{TopicPartition: group.TopicPartition{Topic: "topic"}, Offset: offset, LeaderEpoch: -1}}
	w.c.CommitTransaction(w.now, r, producer, 0, p.reply)
	return p.answer()[0].Code
}

// TestTransactionalCommits count when the transaction is committed.
func TestTransactionalCommits(t *testing.T) {
	w := newWorld(t, group.Config{})
	tps := []group.TopicPartition{{Topic: "topic"}}
	stable := func() group.Code {
		list, _ := w.c.Fetch("g", tps, true)
		if list[0].Code != group.None {
			require.EqualValues(t, -1, list[0].Offset.Offset)
		}
		return list[0].Code
	}
	require.Equal(t, group.None, w.commitTxn(simple("g"), 7, 16))
	require.EqualValues(t, -1, w.offset("g"))
	require.Equal(t, group.UnstableOffsetCommit, stable())
	list, _ := w.c.FetchAll("g", true)
	require.Empty(t, list, "pending ones alone are left out")
	w.end(8, true)
	require.Equal(t, group.UnstableOffsetCommit, stable(), "another producer's marker")
	w.end(7, true)
	require.EqualValues(t, 16, w.offset("g"))
	require.Equal(t, group.None, stable())

	require.Equal(t, group.None, w.commitTxn(simple("g"), 7, 99))
	list, _ = w.c.FetchAll("g", true)
	require.Equal(t, group.UnstableOffsetCommit, list[0].Code)
	w.end(7, false)
	require.EqualValues(t, 16, w.offset("g"))
	require.Equal(t, group.None, stable())

	// The later record counts, not the later marker.
	w.commitTxn(simple("g"), 7, 20)
	w.commit(simple("g"), 21)
	w.end(7, true)
	require.EqualValues(t, 21, w.offset("g"))

	unknown := simple("g")
	unknown.MemberID, unknown.Generation = "nobody", 3
	require.Equal(t, group.UnknownMemberID, w.commitTxn(unknown, 7, 1))
	unknown.Group = "nothing"
	require.Equal(t, group.IllegalGeneration, w.commitTxn(unknown, 7, 1))
	a := w.client("c1", "h").identified()
	a.joining().answer()
	require.Equal(t, group.None, w.commitTxn(a.commit(), 7, 1), "in any state")
	require.Equal(t, group.None, w.commitTxn(simple("h"), 7, 1), "of a producer that does not say whose they are")
	stale := a.commit()
	stale.Generation--
	require.Equal(t, group.IllegalGeneration, w.commitTxn(stale, 7, 1))
}

// TestDeleteOffsets: of topics that nobody in the group subscribes to.
func TestDeleteOffsets(t *testing.T) {
	w := newWorld(t, group.Config{})
	tps := []group.TopicPartition{{Topic: "topic"}, {Topic: "topic", Partition: 1}}
	del := func(g string) (list []group.Committed, code group.Code) {
		done := false
		w.c.DeleteOffsets(w.now, g, tps, func(l []group.Committed, c group.Code) { list, code, done = l, c, true })
		require.True(t, done)
		return list, code
	}
	for g, want := range map[string]group.Code{"": group.InvalidGroupID, "nothing": group.GroupIDNotFound} {
		_, code := del(g)
		require.Equal(t, want, code)
	}
	w.commit(simple("g"), 11)
	list, code := del("g")
	require.Equal(t, group.None, code)
	require.Equal(t, []group.Committed{{TopicPartition: tps[0]}, {TopicPartition: tps[1]}}, list)
	require.EqualValues(t, -1, w.offset("g"))
	require.Equal(t, group.Empty, w.state("g"), "the group stays")

	m := w.client("c1", "members")
	m.protocols = speaks("range", "topic")
	w.formed(m)
	w.commit(m.commit(), 5)
	list, code = del("members")
	require.Equal(t, group.None, code)
	require.Equal(t, group.GroupSubscribedToTopic, list[0].Code)
	require.EqualValues(t, 5, w.offset("members"))
	m.protocols = speaks("range", "other")
	m.joining().answer()
	m.syncing().answer()
	w.restart()
	list, _ = del("members")
	require.Equal(t, group.None, list[0].Code, "what it subscribes to is in the records")
	m.protocols = []group.Protocol{{Name: "range", Metadata: []byte("?")}}
	m.joining().answer()
	m.syncing().answer()
	list, _ = del("members")
	require.Equal(t, group.GroupSubscribedToTopic, list[0].Code, "what cannot be read may be all topics")
	m.leave()
	list, _ = del("members")
	require.Equal(t, group.None, list[0].Code)

	o := w.client("c1", "connect")
	o.kind = "connect"
	w.formed(o)
	_, code = del("connect")
	require.Equal(t, group.NonEmptyGroup, code)

	w.commit(simple("g"), 1)
	w.refuse = group.NotEnoughReplicas
	_, code = del("g")
	require.Equal(t, group.CoordinatorNotAvailable, code)
	require.EqualValues(t, 1, w.offset("g"))
}

// TestDeleteTopic: offsets of a topic that is gone are gone, in all groups, those
// of transactions too.
func TestDeleteTopic(t *testing.T) {
	w := newWorld(t, group.Config{})
	w.commit(simple("g"), 1)
	w.commitTxn(simple("h"), 7, 2)
	r := simple("g")
	r.Offsets = []group.Commit{{TopicPartition: group.TopicPartition{Topic: "kept"}, Offset: 3}}
	w.commit(r, 0)
	w.c.DeleteTopic(w.now, "topic")
	w.end(7, true)
	for range 2 {
		list, _ := w.c.FetchAll("g", false)
		require.Len(t, list, 1)
		require.Equal(t, "kept", list[0].Topic)
		list, _ = w.c.FetchAll("h", false)
		require.Empty(t, list)
		w.restart()
	}
}

// TestOffsetsExpire by the rules of KIP-211.
func TestOffsetsExpire(t *testing.T) {
	const day = 24 * time.Hour
	w := newWorld(t, group.Config{})
	kept := func(g string) bool { return w.offset(g) >= 0 }

	w.commit(simple("simple"), 1) // from its commit
	m := w.client("c1", "left")   // from when the group became empty
	w.formed(m)
	w.commit(m.commit(), 1)
	reads := w.client("c2", "reads") // never, as long as it subscribes
	reads.protocols = speaks("range", "topic")
	reads.session = 30 * time.Minute
	w.formed(reads)
	w.commit(reads.commit(), 1)
	other := w.client("c3", "other") // from its commit, in a stable group
	other.session = 30 * time.Minute
	w.formed(other)
	w.commit(other.commit(), 1)
	w.commitTxn(simple("pending"), 7, 1)
	short := simple("short") // as it said itself
	short.Retention = time.Hour
	w.commit(short, 1)
	long := simple("long")
	long.Retention = 30 * day
	w.commit(long, 1)
	live := func(d time.Duration) {
		for end := w.now.Add(d); w.now.Before(end); w.pass(20 * time.Minute) {
			require.Equal(t, group.None, reads.beat())
			require.Equal(t, group.None, other.beat())
		}
	}
	m.leave()
	live(40 * time.Minute)
	require.True(t, kept("short"))
	live(time.Hour)
	require.False(t, kept("short"))
	require.Equal(t, group.Dead, w.state("short"), "the group goes with its last offset")
	live(7*day - 4*time.Hour)
	w.commit(simple("simple"), 2)
	require.True(t, kept("other"))
	require.True(t, kept("left"))
	live(5 * time.Hour)
	require.False(t, kept("other"))
	require.Equal(t, group.Stable, w.state("other"))
	require.False(t, kept("left"))
	require.Equal(t, group.Dead, w.state("left"))
	require.True(t, kept("simple"))
	live(7 * day)
	require.False(t, kept("simple"))
	require.True(t, kept("reads"))
	require.True(t, kept("long"))
	require.Equal(t, group.Empty, w.state("pending"), "never while a transaction is open")
	w.end(7, false)
	live(20 * time.Minute)
	require.Equal(t, group.Dead, w.state("pending"))
	live(17 * day)
	require.False(t, kept("long"))
	w.restart()
	list, _ := w.c.List(nil, nil)
	require.Len(t, list, 2, "tombstones were written: %v", list)
}

// TestEmptyGroupsWithoutOffsetsGo at the next check.
func TestEmptyGroupsWithoutOffsetsGo(t *testing.T) {
	w := newWorld(t, group.Config{})
	m := w.client("c1", "g")
	w.formed(m)
	m.leave()
	require.Equal(t, group.Empty, w.state("g"))
	w.pass(10 * time.Minute)
	require.Equal(t, group.Dead, w.state("g"))
	w.restart()
	require.Equal(t, group.Dead, w.state("g"))
}

// TestOffsetsOnTheirWayDoNotExpire: what is being committed again is not old.
func TestOffsetsOnTheirWayDoNotExpire(t *testing.T) {
	w := newWorld(t, group.Config{OffsetsRetention: time.Hour})
	w.commit(simple("g"), 1)
	w.pass(50 * time.Minute)
	w.hold = true
	p := w.commit(simple("g"), 2)
	w.pass(30 * time.Minute)
	w.flush()
	require.Equal(t, group.None, only(t, p))
	require.EqualValues(t, 2, w.offset("g"))
	w.restart()
	require.EqualValues(t, 2, w.offset("g"))
}

// TestEmptySince: the offsets of a group that had members are kept from when the
// last one left.
func TestEmptySince(t *testing.T) {
	const day = 24 * time.Hour
	w := newWorld(t, group.Config{})
	m := w.client("c1", "g")
	m.session = 30 * time.Minute
	w.formed(m)
	w.commit(m.commit(), 1)
	for end := w.now.Add(8 * day); w.now.Before(end); w.pass(25 * time.Minute) {
		require.Equal(t, group.None, m.beat())
		w.commit(m.commit(), 1)
	}
	last := w.now
	require.Equal(t, group.None, m.beat())
	w.pass(29 * time.Minute)
	m.leave()
	w.pass(7*day - w.now.Sub(last) + 10*time.Minute)
	require.EqualValues(t, 1, w.offset("g"))
	w.pass(30 * time.Minute)
	require.EqualValues(t, -1, w.offset("g"))
}

// TestIDsKeepAGroup: the check does not take a group away from who is about to
// join it.
func TestIDsKeepAGroup(t *testing.T) {
	w := newWorld(t, group.Config{})
	w.pass(10*time.Minute - time.Second)
	m := w.client("c1", "g").identified()
	w.pass(2 * time.Second)
	require.Equal(t, group.None, m.joining().answer().Code)
}
