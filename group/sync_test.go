package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
)

// TestSyncRefusals: as Kafka 4.4 answers, in its order.
func TestSyncRefusals(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.client("c1", "g").identified()
	a.joining().answer()
	connect, sticky, i9 := "connect", "sticky", "i9"
	for name, tc := range map[string]struct {
		change func(*group.SyncRequest)
		want   group.Code
	}{
		"unknown group":    {func(r *group.SyncRequest) { r.Group = "nothing" }, group.UnknownMemberID},
		"empty group":      {func(r *group.SyncRequest) { r.Group = "" }, group.InvalidGroupID},
		"unknown member":   {func(r *group.SyncRequest) { r.MemberID, r.Generation = "nobody", 9 }, group.UnknownMemberID},
		"empty member":     {func(r *group.SyncRequest) { r.MemberID = "" }, group.UnknownMemberID},
		"generation ahead": {func(r *group.SyncRequest) { r.Generation++ }, group.IllegalGeneration},
		"generation -1":    {func(r *group.SyncRequest) { r.Generation = -1 }, group.IllegalGeneration},
		"other type":       {func(r *group.SyncRequest) { r.ProtocolType = &connect }, group.InconsistentGroupProtocol},
		"other protocol":   {func(r *group.SyncRequest) { r.Protocol = &sticky }, group.InconsistentGroupProtocol},
		"none":             {func(r *group.SyncRequest) { r.ProtocolType, r.Protocol = nil, nil }, group.InconsistentGroupProtocol},
		"unknown instance": {func(r *group.SyncRequest) { r.InstanceID = &i9 }, group.UnknownMemberID},
	} {
		r := a.syncRequest()
		tc.change(&r)
		p := &parked[group.SyncResponse]{t: t}
		w.c.Sync(w.now, r, p.reply)
		require.Equal(t, group.SyncResponse{Code: tc.want}, p.answer(), name)
	}
	r := a.syncRequest(a.id, "assigned", "nobody", "ignored")
	r.Version, r.Protocol, r.ProtocolType = 4, nil, nil
	p := &parked[group.SyncResponse]{t: t}
	w.c.Sync(w.now, r, p.reply)
	require.Equal(t, group.SyncResponse{ProtocolType: "consumer", Protocol: "range", Assignment: []byte("assigned")}, p.answer())
	require.Equal(t, "assigned", string(a.syncing(a.id, "again").answer().Assignment), "the first one stays")
}

// TestSyncWithoutAssignment: who is not in the leader's answer has none.
func TestSyncWithoutAssignment(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.client("c1", "g").identified()
	a.joining().answer()
	require.Equal(t, group.SyncResponse{ProtocolType: "consumer", Protocol: "range"}, a.syncing().answer())
	require.Equal(t, group.Stable, w.state("g"))
}

// TestAssignmentIsDurable before anybody gets it.
func TestAssignmentIsDurable(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	w.formed(a, b)
	pa, pb := a.joining(), b.joining()
	pa.answer()
	pb.answer()
	w.hold = true
	sb := b.syncing()
	sa := a.syncing(a.id, "A", b.id, "B")
	sa.waits()
	sb.waits()
	require.Equal(t, group.CompletingRebalance, w.state("g"))
	again := a.syncing(a.id, "other")
	require.Equal(t, group.RebalanceInProgress, sa.answer().Code, "asked again")
	w.flush()
	require.Equal(t, "A", string(again.answer().Assignment), "what is being written counts")
	require.Equal(t, "B", string(sb.answer().Assignment))
	before := w.c.Describe("g")
	w.restart()
	require.Equal(t, before, w.c.Describe("g"), "the log has what members have")
}

// TestAssignmentThatIsNotWritten: all are told the code and rebalance.
func TestAssignmentThatIsNotWritten(t *testing.T) {
	for logs, want := range map[group.Code]group.Code{
		group.NotLeaderOrFollower: group.NotCoordinator, group.KafkaStorageError: group.NotCoordinator,
		group.NotEnoughReplicas: group.CoordinatorNotAvailable, group.NotEnoughReplicasAfterAppend: group.CoordinatorNotAvailable,
		group.RequestTimedOut: group.CoordinatorNotAvailable, group.UnknownTopicOrPartition: group.CoordinatorNotAvailable,
		group.MessageTooLarge: group.UnknownServerError, group.RecordListTooLarge: group.UnknownServerError,
	} {
		w := newWorld(t, group.Config{})
		a := w.client("c1", "g").identified()
		a.joining().answer()
		w.refuse = logs
		require.Equal(t, want, a.syncing(a.id, "A").answer().Code, logs)
		require.Equal(t, group.PreparingRebalance, w.state("g"))
		w.refuse = group.None
		a.joining().answer()
		require.Equal(t, "A", string(a.syncing(a.id, "A").answer().Assignment))
	}
}

// TestAssignmentOfAnOldGeneration: if the group rebalances while it is written,
// nobody gets it.
func TestAssignmentOfAnOldGeneration(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.client("c1", "g").identified()
	a.joining().answer()
	w.hold = true
	sa := a.syncing(a.id, "A")
	b := w.client("c2", "g").identified()
	pb := b.joining()
	require.Equal(t, group.RebalanceInProgress, sa.answer().Code)
	w.flush()
	require.Equal(t, group.PreparingRebalance, w.state("g"))
	require.Empty(t, w.c.Describe("g").Members[0].Assignment)
	a.joining().answer()
	pb.answer()
	require.Equal(t, group.CompletingRebalance, w.state("g"))
}

// TestHeartbeat: as Kafka 4.4 answers.
func TestHeartbeat(t *testing.T) {
	w := newWorld(t, group.Config{})
	a := w.client("c1", "g")
	require.Equal(t, group.UnknownMemberID, a.beat())
	a.identified().joining().answer()
	require.Equal(t, group.None, a.beat())
	a.syncing().answer()
	i9 := "i9"
	for name, tc := range map[string]struct {
		change func(*group.HeartbeatRequest)
		want   group.Code
	}{
		"good":              {func(*group.HeartbeatRequest) {}, group.None},
		"empty group":       {func(r *group.HeartbeatRequest) { r.Group = "" }, group.InvalidGroupID},
		"unknown member":    {func(r *group.HeartbeatRequest) { r.MemberID, r.Generation = "nobody", 7 }, group.UnknownMemberID},
		"generation ahead":  {func(r *group.HeartbeatRequest) { r.Generation++ }, group.IllegalGeneration},
		"generation behind": {func(r *group.HeartbeatRequest) { r.Generation-- }, group.IllegalGeneration},
		"unknown instance":  {func(r *group.HeartbeatRequest) { r.InstanceID = &i9 }, group.UnknownMemberID},
	} {
		r := group.HeartbeatRequest{Group: "g", MemberID: a.id, Generation: a.generation}
		tc.change(&r)
		require.Equal(t, tc.want, w.c.Heartbeat(w.now, r), name)
	}
	a.leave()
	require.Equal(t, group.UnknownMemberID, a.beat())
}
