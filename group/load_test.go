package group_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/group"
)

// TestGenerationsSurviveARestart: members go on by heartbeats, with what they
// have, and a new session.
func TestGenerationsSurviveARestart(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b, s := w.client("c1", "g"), w.client("c2", "g"), w.static("c3", "g", "i1")
	w.formed(a, b, s)
	w.commit(a.commit(), 42)
	before := w.c.Describe("g")
	w.pass(29 * time.Second)
	w.restart()
	require.Equal(t, before, w.c.Describe("g"))
	require.EqualValues(t, 42, w.offset("g"))
	w.pass(29 * time.Second)
	for _, m := range []*client{a, b, s} {
		require.Equal(t, group.None, m.beat())
	}
	require.Equal(t, "part-2", string(b.syncing().answer().Assignment))
	require.Equal(t, group.None, only(t, w.commit(b.commit(), 43)))
	require.EqualValues(t, 2, b.joining().answer().Generation, "a follower that says the same")
	require.Equal(t, group.None, s.beat())
	s2 := s.again()
	require.EqualValues(t, 2, s2.joining().answer().Generation)
	require.Equal(t, group.FencedInstanceID, s.beat())
	w.restart()
	require.Equal(t, group.FencedInstanceID, s.beat(), "a replacement survives as well")
	require.Equal(t, group.None, s2.beat())
	pa := a.joining()
	require.Equal(t, group.RebalanceInProgress, b.beat(), "the leader is known")
	b.joining()
	s2.joining()
	require.EqualValues(t, 3, pa.answer().Generation)

	w.pass(time.Hour)
	require.Equal(t, group.Empty, w.state("g"))
	w.restart()
	require.Equal(t, group.Description{Group: "g", State: group.Empty, ProtocolType: "consumer"}, w.c.Describe("g"))
	require.EqualValues(t, 43, w.offset("g"))
}

// TestLastRecordWins, tombstones too, whatever comes between.
func TestLastRecordWins(t *testing.T) {
	w := newWorld(t, group.Config{})
	w.commit(simple("g"), 1)
	w.commit(simple("g"), 2)
	w.commit(simple("gone"), 3)
	w.c.DeleteOffsets(w.now, "gone", []group.TopicPartition{{Topic: "topic"}}, func([]group.Committed, group.Code) {})
	m := w.client("c1", "deleted")
	w.formed(m)
	w.commit(m.commit(), 4)
	m.leave()
	w.c.Delete(w.now, []string{"deleted"}, func([]group.Deleted) {})
	w.commit(simple("deleted"), 5)
	w.restart()
	require.EqualValues(t, 2, w.offset("g"))
	require.Equal(t, group.Dead, w.state("gone"), "a simple group is its offsets")
	require.EqualValues(t, 5, w.offset("deleted"))
	require.Equal(t, group.Description{Group: "deleted", State: group.Empty}, w.c.Describe("deleted"))
}

// TestTransactionsSurviveARestart: pending ones are pending again.
func TestTransactionsSurviveARestart(t *testing.T) {
	w := newWorld(t, group.Config{})
	w.commitTxn(simple("g"), 7, 1)
	w.commitTxn(simple("h"), 8, 2)
	w.commitTxn(simple("i"), 9, 3)
	w.end(8, true)
	w.restart()
	require.EqualValues(t, 2, w.offset("h"))
	list, _ := w.c.Fetch("g", []group.TopicPartition{{Topic: "topic"}}, true)
	require.Equal(t, group.UnstableOffsetCommit, list[0].Code)
	w.end(7, true)
	w.end(9, false)
	require.EqualValues(t, 1, w.offset("g"))
	require.EqualValues(t, -1, w.offset("i"))
}

// TestWhileLoading: all calls but heartbeats are told to come again.
func TestWhileLoading(t *testing.T) {
	w := newWorld(t, group.Config{})
	w.c = group.New(w.config)
	a := w.client("c1", "g")
	require.Equal(t, group.CoordinatorLoadInProgress, a.joining().answer().Code)
	require.Equal(t, group.CoordinatorLoadInProgress, a.syncing().answer().Code)
	require.Equal(t, group.None, a.beat())
	require.Equal(t, group.CoordinatorLoadInProgress, w.c.Leave(w.now, group.LeaveRequest{Group: "g"}).Code)
	require.Equal(t, group.CoordinatorLoadInProgress, only(t, w.commit(simple("g"), 1)))
	_, code := w.c.Fetch("g", nil, false)
	require.Equal(t, group.CoordinatorLoadInProgress, code)
	_, code = w.c.FetchAll("g", false)
	require.Equal(t, group.CoordinatorLoadInProgress, code)
	_, code = w.c.List(nil, nil)
	require.Equal(t, group.CoordinatorLoadInProgress, code)
	require.Equal(t, group.CoordinatorLoadInProgress, w.c.Describe("g").Code)
	w.c.Delete(w.now, []string{"g"}, func(d []group.Deleted) {
		require.Equal(t, []group.Deleted{{Group: "g", Code: group.CoordinatorLoadInProgress}}, d)
	})
	w.c.DeleteOffsets(w.now, "g", nil, func(_ []group.Committed, code group.Code) {
		require.Equal(t, group.CoordinatorLoadInProgress, code)
	})
}

// TestClose: who waits is told to look for another coordinator, and so is who
// comes.
func TestClose(t *testing.T) {
	w := newWorld(t, group.Config{})
	a, b := w.client("c1", "g"), w.client("c2", "g")
	w.formed(a, b)
	w.hold = true
	p, pc := a.joining(), w.commit(b.commit(), 1)
	w.c.Close()
	require.Equal(t, group.JoinResponse{Code: group.NotCoordinator, Generation: -1, MemberID: a.id}, p.answer())
	require.Equal(t, group.NotCoordinator, a.beat())
	require.Equal(t, group.NotCoordinator, a.joining().answer().Code)
	w.flush()
	require.Equal(t, group.NotCoordinator, only(t, pc))
	_, ok := w.c.Next()
	require.False(t, ok)
}

// TestBadRecords are named with their offset and change nothing.
func TestBadRecords(t *testing.T) {
	w := newWorld(t, group.Config{})
	w.commit(simple("g"), 1)
	good := w.log[len(w.log)-1]
	c := group.New(w.config)
	require.NoError(t, c.Replay(good.Record, 0, group.NoProducer))
	for n := range len(good.Value) {
		err := c.Replay(group.Record{Key: good.Key, Value: good.Value[:n]}, 33, group.NoProducer)
		require.ErrorIs(t, err, group.ErrMalformed)
		require.ErrorContains(t, err, "offset 33")
	}
	for n := range len(good.Key) {
		require.ErrorIs(t, c.Replay(group.Record{Key: good.Key[:n]}, 33, group.NoProducer), group.ErrMalformed)
	}
	require.ErrorIs(t, c.Replay(group.Record{Key: []byte{0, 3, 0, 1, 'g'}}, 33, group.NoProducer), group.ErrUnknown)
	require.ErrorIs(t, c.Replay(group.Record{Key: good.Key, Value: []byte{0, 99}}, 33, group.NoProducer), group.ErrUnknown)
	c.Loaded(w.now)
	list, _ := c.FetchAll("g", false)
	require.Len(t, list, 1)
	require.EqualValues(t, 1, list[0].Offset.Offset)
}

// TestRecords: what is written for what happens, as Kafka 4.4 writes it.
func TestRecords(t *testing.T) {
	w := newWorld(t, group.Config{})
	at := w.now.UnixMilli()
	seen := 0
	offsets := func() (values []kmsg.OffsetCommitValue) {
		for _, l := range w.log[seen:] {
			require.Equal(t, "0001"+"0001"+"67"+"0005"+hex.EncodeToString([]byte("topic"))+"00000000", hex.EncodeToString(l.Key))
			var v kmsg.OffsetCommitValue
			require.NoError(t, v.ReadFrom(l.Value))
			values = append(values, v)
		}
		seen = len(w.log)
		return values
	}
	groups := func() (values []kmsg.GroupMetadataValue) {
		for _, l := range w.log[seen:] {
			require.Equal(t, "0002"+"0001"+"67", hex.EncodeToString(l.Key))
			var v kmsg.GroupMetadataValue
			require.NoError(t, v.ReadFrom(l.Value))
			values = append(values, v)
		}
		seen = len(w.log)
		return values
	}
	commit := simple("g")
	commit.Offsets = []group.Commit{{TopicPartition: group.TopicPartition{Topic: "topic"}, TopicID: [16]byte{9}, Offset: 9, LeaderEpoch: 4, Metadata: "note"}}
	w.commit(commit, 0)
	require.Equal(t, []kmsg.OffsetCommitValue{{Version: 4, Offset: 9, LeaderEpoch: 4, Metadata: "note", CommitTimestamp: at, TopicID: [16]byte{9}}}, offsets())
	commit.Retention = 24 * time.Hour
	w.commit(commit, 0)
	require.Equal(t, []kmsg.OffsetCommitValue{{Version: 1, Offset: 9, Metadata: "note", CommitTimestamp: at,
		ExpireTimestamp: at + 86400000}}, offsets())

	a := w.client("c1", "g").identified()
	a.joining().answer()
	require.Empty(t, groups(), "nothing for an id, nothing for a join")
	a.syncing(a.id, "one").answer()
	protocol := "range"
	require.Equal(t, []kmsg.GroupMetadataValue{{Version: 3, ProtocolType: "consumer", Generation: 1, Protocol: &protocol, Leader: &a.id, CurrentStateTimestamp: at,
		Members: []kmsg.GroupMetadataValueMember{{MemberID: a.id, ClientID: "c1", ClientHost: "/127.0.0.1", RebalanceTimeoutMillis: 60000, SessionTimeoutMillis: 30000,
			Subscription: a.protocols[0].Metadata, Assignment: []byte("one")}}}}, groups())
	a.leave()
	require.Equal(t, []kmsg.GroupMetadataValue{{Version: 3, ProtocolType: "consumer", Generation: 2, CurrentStateTimestamp: at}}, groups())
	s := w.static("c2", "g", "i1")
	w.formed(s)
	require.Equal(t, s.id, groups()[0].Members[0].MemberID)
	s2 := s.again()
	s2.joining().answer()
	v := groups()
	require.Len(t, v, 1, "a replacement writes the group")
	require.Equal(t, s2.id, *v[0].Leader)
	require.Equal(t, "part-1", string(v[0].Members[0].Assignment))
	require.Equal(t, "i1", *v[0].Members[0].InstanceID)
	s2.leave()
	groups()
	w.c.Delete(w.now, []string{"g"}, func([]group.Deleted) {})
	require.Len(t, w.log[seen:], 2, "tombstones of its offsets and of the group")
	require.Nil(t, w.log[seen].Value)
	require.Nil(t, w.log[seen+1].Value)
	require.Equal(t, "0002"+"0001"+"67", hex.EncodeToString(w.log[seen+1].Key))

	seen = len(w.log)
	w.client("c3", "g").identified()
	require.Equal(t, []kmsg.GroupMetadataValue{{Version: 3, CurrentStateTimestamp: at}}, groups(), "a new group is there with its first id")
}

// TestOldRecords: of version 0 a group has no rebalance timeouts, which are the
// session timeouts then, and no time; its offsets are kept from their commits.
func TestOldRecords(t *testing.T) {
	w := newWorld(t, group.Config{})
	protocol, leader := "range", "b"
	value := kmsg.GroupMetadataValue{Version: 0, ProtocolType: "consumer", Generation: 4, Protocol: &protocol, Leader: &leader, Members: []kmsg.GroupMetadataValueMember{
		{MemberID: "a", SessionTimeoutMillis: 20000}, {MemberID: "b", SessionTimeoutMillis: 20000}}}
	key := []byte{0, 2, 0, 1, 'g'}
	w.log = append(w.log, logged{Record: group.Record{Key: key, Value: value.AppendTo(nil)}, producer: group.NoProducer})
	w.restart()
	b := w.client("c", "g")
	b.id, b.generation, b.protocols = "b", 4, []group.Protocol{{Name: "range"}}
	require.Equal(t, group.None, b.beat())
	b.rebalance = 5 * time.Second
	pb := b.joining()
	w.c.Heartbeat(w.now, group.HeartbeatRequest{Group: "g", MemberID: "a", Generation: 4})
	w.pass(20*time.Second - 1)
	pb.waits()
	w.pass(1)
	require.Len(t, pb.answer().Members, 1)

	value.Members, value.Leader, value.Protocol = nil, nil, nil
	w = newWorld(t, group.Config{OffsetsRetention: time.Hour})
	w.commit(simple("g"), 1)
	w.log = append(w.log, logged{Record: group.Record{Key: key, Value: value.AppendTo(nil)}, producer: group.NoProducer})
	w.restart()
	w.pass(time.Hour - 1)
	require.EqualValues(t, 1, w.offset("g"))
	w.pass(1)
	require.EqualValues(t, -1, w.offset("g"))
}
