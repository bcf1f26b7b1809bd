package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group/assign"
)

// quick are settings by which groups form at once, and notice soon who is dead.
func quick(more ...string) map[string]string {
	c := map[string]string{"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "100", "offsets.topic.num.partitions": "3"}
	for i := 0; i < len(more); i += 2 {
		c[more[i]] = more[i+1]
	}
	return c
}

// member is a consumer that can die: from then on it reaches nobody.
type member struct {
	*kgo.Client
	mu    sync.Mutex
	dead  bool
	conns []net.Conn
}

func (m *member) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return nil, errors.New("dead")
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, addr)
	if err == nil {
		m.conns = append(m.conns, nc)
	}
	return nc, err
}

func (m *member) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	for _, nc := range m.conns {
		_ = nc.Close()
	}
}

func join(t *testing.T, addr, group, topic string, opts ...kgo.Opt) *member {
	t.Helper()
	m := new(member)
	m.Client = client(t, addr, append([]kgo.Opt{kgo.Dialer(m.dial), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.SessionTimeout(time.Second), kgo.HeartbeatInterval(50 * time.Millisecond), kgo.RebalanceTimeout(20 * time.Second),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit()}, opts...)...)
	return m
}

// describe asks for a group.
func describe(t *testing.T, addr, group string) kmsg.DescribeGroupsResponseGroup {
	t.Helper()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	w := dial(t, addr)
	defer w.nc.Close()
	return ask[*kmsg.DescribeGroupsResponse](w, req, 5).Groups[0]
}

// shared waits until the group's members have so many partitions each, and all
// of them once.
func shared(t *testing.T, addr, group string, each ...int) {
	t.Helper()
	var got []int
	require.Eventually(t, func() bool {
		d := describe(t, addr, group)
		got = nil
		owners := make(map[assign.TopicPartition]string)
		for _, m := range d.Members {
			list, err := assign.ParseAssignment(m.MemberAssignment)
			if err != nil {
				return false
			}
			got = append(got, len(list))
			for _, tp := range list {
				owners[tp] = m.MemberID
			}
		}
		slices.Sort(got)
		want := 0
		for _, n := range each {
			want += n
		}
		return d.State == "Stable" && slices.Equal(got, each) && len(owners) == want
	}, 20*time.Second, 20*time.Millisecond, "want %v", each)
}

// TestGroupShares: members share the partitions, also after one has come, left or
// died.
func TestGroupShares(t *testing.T) {
	for name, balancer := range map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, t.TempDir(), "", quick())
			topic(t, s, "t", 6)
			a := join(t, s.addr, "g", "t", kgo.Balancers(balancer))
			shared(t, s.addr, "g", 6)
			b := join(t, s.addr, "g", "t", kgo.Balancers(balancer))
			shared(t, s.addr, "g", 3, 3)
			c := join(t, s.addr, "g", "t", kgo.Balancers(balancer))
			shared(t, s.addr, "g", 2, 2, 2)
			b.Close()
			shared(t, s.addr, "g", 3, 3)
			c.die()
			shared(t, s.addr, "g", 6)

			// Who is left reads all of it, each record once.
			p := client(t, s.addr, kgo.DefaultProduceTopic("t"), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
			const n = 60
			for i := range n {
				require.NoError(t, p.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint(i))).FirstErr())
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			seen := make(map[string]int)
			for len(seen) < n && ctx.Err() == nil {
				a.PollFetches(ctx).EachRecord(func(r *kgo.Record) { seen[string(r.Value)]++ })
			}
			require.Len(t, seen, n)
			for value, times := range seen {
				require.Equal(t, 1, times, value)
			}
			a.Close()
			require.Equal(t, "Empty", describe(t, s.addr, "g").State)
		})
	}
}

// TestCommitsSurvive: what was committed is there after a restart, and a member
// that goes on reads on from there.
func TestCommitsSurvive(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, "", quick())
	topic(t, s, "t", 1)
	produceNumbers := func(from, n int) {
		p := client(t, s.addr, kgo.DefaultProduceTopic("t"))
		for i := range n {
			require.NoError(t, p.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint(from+i))).FirstErr())
		}
	}
	read := func(m *member, n int) (values []string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for len(values) < n && ctx.Err() == nil {
			m.PollFetches(ctx).EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
		}
		return values
	}
	produceNumbers(0, 5)
	m := join(t, s.addr, "g", "t")
	require.Len(t, read(m, 5), 5)
	require.NoError(t, m.CommitUncommittedOffsets(t.Context()))
	m.Close()
	s.stop()

	s = serve(t, dir, s.addr, quick())
	produceNumbers(5, 2)
	m = join(t, s.addr, "g", "t")
	require.Equal(t, []string{"5", "6"}, read(m, 2))
}

// TestMemberSurvives: a member goes on by heartbeats in its generation when the
// broker was restarted.
func TestMemberSurvives(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, "", quick())
	findGroup(t, s, "g")
	id, generation := formed(t, s, "g")
	s.stop()
	s = serve(t, dir, "", quick())
	require.Equal(t, "Stable", settled(t, s, "g").State)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", id, generation
	w := dial(t, s.addr)
	require.Zero(t, ask[*kmsg.HeartbeatResponse](w, beat, 3).ErrorCode)
	beat.Generation++
	require.Equal(t, kerr.IllegalGeneration.Code, ask[*kmsg.HeartbeatResponse](w, beat, 3).ErrorCode)
	require.Equal(t, "mine", string(describe(t, s.addr, "g").Members[0].MemberAssignment))
}

// settled describes a group when its coordinator has loaded.
func settled(t *testing.T, s *served, group string) (d kmsg.DescribeGroupsResponseGroup) {
	t.Helper()
	require.Eventually(t, func() bool {
		d = describe(t, s.addr, group)
		return d.ErrorCode != kerr.CoordinatorLoadInProgress.Code
	}, 20*time.Second, 5*time.Millisecond)
	return d
}

// findGroup has the group's coordinator be there.
func findGroup(t *testing.T, s *served, group string) {
	t.Helper()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = group
	require.Zero(t, ask[*kmsg.FindCoordinatorResponse](dial(t, s.addr), find, 2).ErrorCode)
}

func joining(group, id string) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.ProtocolType = group, id, 30_000, 30_000, "consumer"
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", assign.Subscription{Topics: []string{"t"}, Generation: assign.NoGeneration}.Append(nil)
	r.Protocols = append(r.Protocols, p)
	return r
}

// joined receives what a join was answered.
func joined(w *wire) *kmsg.JoinGroupResponse {
	w.t.Helper()
	req := kmsg.NewPtrJoinGroupRequest()
	req.SetVersion(3)
	return w.receive(req, w.n).(*kmsg.JoinGroupResponse)
}

// formed makes a group of one member.
func formed(t *testing.T, s *served, group string) (id string, generation int32) {
	t.Helper()
	return dial(t, s.addr).form(group)
}

func (w *wire) form(group string) (id string, generation int32) {
	t := w.t
	t.Helper()
	member := ask[*kmsg.JoinGroupResponse](w, joining(group, ""), 3)
	require.Zero(t, member.ErrorCode)
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = group, member.MemberID, member.Generation
	a := kmsg.NewSyncGroupRequestGroupAssignment()
	a.MemberID, a.MemberAssignment = member.MemberID, []byte("mine")
	sync.GroupAssignment = append(sync.GroupAssignment, a)
	require.Zero(t, ask[*kmsg.SyncGroupResponse](w, sync, 3).ErrorCode)
	return member.MemberID, member.Generation
}

// TestMembersKeepTheirBytes: what members said stays when the connection's buffer
// is used for other requests.
func TestMembersKeepTheirBytes(t *testing.T) {
	s := serve(t, t.TempDir(), "", quick())
	findGroup(t, s, "g")
	w := dial(t, s.addr)
	w.form("g")
	other := kmsg.NewPtrFindCoordinatorRequest()
	other.CoordinatorKey = strings.Repeat("x", 1000)
	ask[*kmsg.FindCoordinatorResponse](w, other, 2)
	m := describe(t, s.addr, "g").Members[0]
	require.Equal(t, joining("g", "").Protocols[0].Metadata, m.ProtocolMetadata)
	require.Equal(t, "mine", string(m.MemberAssignment))
}

// TestStaticMember: one that comes back within its session gets its partitions
// without a rebalance.
func TestStaticMember(t *testing.T) {
	s := serve(t, t.TempDir(), "", quick())
	topic(t, s, "t", 4)
	static := func(id string) *member {
		return join(t, s.addr, "g", "t", kgo.InstanceID(id), kgo.SessionTimeout(20*time.Second))
	}
	a, b := static("a"), static("b")
	shared(t, s.addr, "g", 2, 2)
	id, generation := b.GroupMetadata()
	b.Close()
	shared(t, s.addr, "g", 2, 2) // it has not left
	again := static("b")
	require.Eventually(t, func() bool {
		now, _ := again.GroupMetadata()
		return now != "" && now != id
	}, 20*time.Second, 10*time.Millisecond)
	_, now := again.GroupMetadata()
	require.Equal(t, generation, now)
	_, other := a.GroupMetadata()
	require.Equal(t, generation, other)
	shared(t, s.addr, "g", 2, 2)
}

// TestWaitingJoin: while a join waits others are served, and it ends with its
// client or the broker.
func TestWaitingJoin(t *testing.T) {
	s := serve(t, t.TempDir(), "", quick())
	findGroup(t, s, "g")
	id, generation := formed(t, s, "g")
	conns := func() int {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		return len(s.server.mu.conns)
	}
	waiting := func() *wire {
		w := dial(t, s.addr)
		w.send(joining("g", ""), 3)
		return w
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", id, generation
	rebalancing := func() bool {
		return ask[*kmsg.HeartbeatResponse](dial(t, s.addr), beat, 3).ErrorCode == kerr.RebalanceInProgress.Code
	}
	gone := waiting()
	require.Eventually(t, rebalancing, 20*time.Second, 5*time.Millisecond, "the join waits, and other connections are served")
	before := conns()
	require.NoError(t, gone.nc.Close())
	require.Eventually(t, func() bool { return conns() < before }, 20*time.Second, 5*time.Millisecond, "the connection ends with its client")

	last := waiting()
	require.Eventually(t, func() bool { return len(describe(t, s.addr, "g").Members) == 3 }, 20*time.Second, 5*time.Millisecond)
	go s.cancel()
	answer := joined(last)
	require.Equal(t, kerr.NotCoordinator.Code, answer.ErrorCode)
}

// TestGroupSettings: what server.properties says of groups counts.
func TestGroupSettings(t *testing.T) {
	s := serve(t, t.TempDir(), "", map[string]string{"group.initial.rebalance.delay.ms": "1500", "group.min.session.timeout.ms": "200",
		"group.max.session.timeout.ms": "30000", "group.max.size": "2", "offsets.topic.num.partitions": "7", "offset.metadata.max.bytes": "3",
		"offsets.retention.check.interval.ms": "20"})
	w := dial(t, s.addr)
	require.Equal(t, kerr.NotCoordinator.Code, ask[*kmsg.JoinGroupResponse](w, joining("g", ""), 3).ErrorCode)
	findGroup(t, s, "g")
	offsets, err := s.b.Topic(broker.ConsumerOffsets)
	require.NoError(t, err)
	require.Len(t, offsets.Partitions(), 7)
	require.True(t, offsets.Compacted())
	require.False(t, offsets.Deletes())

	for timeout, want := range map[int32]int16{199: kerr.InvalidSessionTimeout.Code, 30_001: kerr.InvalidSessionTimeout.Code} {
		r := joining("g", "")
		r.SessionTimeoutMillis = timeout
		assert.Equal(t, want, ask[*kmsg.JoinGroupResponse](w, r, 3).ErrorCode, timeout)
	}
	other := dial(t, s.addr)
	w.send(joining("g", ""), 3)
	other.send(joining("g", ""), 3)
	first := joined(w)
	second := joined(other)
	require.EqualValues(t, 1, first.Generation)
	require.EqualValues(t, 1, second.Generation, "the first generation waits for more members")
	require.Equal(t, 2, len(first.Members)+len(second.Members), "the leader learns of both")
	require.Equal(t, kerr.GroupMaxSizeReached.Code, ask[*kmsg.JoinGroupResponse](w, joining("g", ""), 3).ErrorCode)

	topic(t, s, "t", 2)
	commit := committing("simple", "t", 0, 5)
	commit.Topics[0].Partitions[0].Metadata = kmsg.StringPtr("long")
	require.Equal(t, kerr.OffsetMetadataTooLarge.Code, ask[*kmsg.OffsetCommitResponse](w, commit, 7).Topics[0].Partitions[0].ErrorCode)
	commit = committing("simple", "t", 0, 5)
	commit.RetentionTimeMillis = 1
	require.Zero(t, ask[*kmsg.OffsetCommitResponse](w, commit, 4).Topics[0].Partitions[0].ErrorCode)
	require.Eventually(t, func() bool { return committed(t, s, "simple", "t") == -1 }, 20*time.Second, 10*time.Millisecond, "it has expired")
}

func committing(group, topic string, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.Generation = group, -1
	one := kmsg.NewOffsetCommitRequestTopic()
	one.Topic = topic
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata = partition, offset, kmsg.StringPtr("")
	one.Partitions = append(one.Partitions, p)
	r.Topics = append(r.Topics, one)
	return r
}

// committed is the offset of a topic's partition 0.
func committed(t *testing.T, s *served, group, topic string) int64 {
	t.Helper()
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Group = group
	one := kmsg.NewOffsetFetchRequestTopic()
	one.Topic, one.Partitions = topic, []int32{0}
	r.Topics = append(r.Topics, one)
	w := dial(t, s.addr)
	defer w.nc.Close()
	got := ask[*kmsg.OffsetFetchResponse](w, r, 5)
	require.Zero(t, got.ErrorCode)
	return got.Topics[0].Partitions[0].Offset
}

// TestTopicOfOffsetsGone: with a topic its offsets go, and with the topic of the
// offsets all groups, whose members are told.
func TestTopicOfOffsetsGone(t *testing.T) {
	s := serve(t, t.TempDir(), "", quick())
	topic(t, s, "t", 1)
	topic(t, s, "u", 1)
	findGroup(t, s, "g")
	w := dial(t, s.addr)
	for _, name := range []string{"t", "u"} {
		require.Zero(t, ask[*kmsg.OffsetCommitResponse](w, committing("g", name, 0, 9), 7).Topics[0].Partitions[0].ErrorCode)
	}
	require.NoError(t, s.b.DeleteTopic("t"))
	topic(t, s, "t", 1)
	require.EqualValues(t, -1, committed(t, s, "g", "t"))
	require.EqualValues(t, 9, committed(t, s, "g", "u"))

	id, generation := formed(t, s, "members")
	waiting := dial(t, s.addr)
	waiting.send(joining("members", ""), 3)
	require.Eventually(t, func() bool { return len(describe(t, s.addr, "members").Members) == 2 }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, s.b.DeleteTopic(broker.ConsumerOffsets))
	require.Equal(t, kerr.NotCoordinator.Code, joined(waiting).ErrorCode)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "members", id, generation
	require.Equal(t, kerr.NotCoordinator.Code, ask[*kmsg.HeartbeatResponse](w, beat, 3).ErrorCode)
	findGroup(t, s, "g")
	require.EqualValues(t, -1, committed(t, s, "g", "u"))
	require.Equal(t, kerr.UnknownMemberID.Code, ask[*kmsg.HeartbeatResponse](w, beat, 3).ErrorCode)
}

// TestCommitBesideDeletion: commits that come while their topic is deleted leave
// nothing for another of its name.
func TestCommitBesideDeletion(t *testing.T) {
	s := serve(t, t.TempDir(), "", quick())
	findGroup(t, s, "g")
	for range 40 {
		topic(t, s, "t", 1)
		var wg sync.WaitGroup
		var first sync.WaitGroup
		for range 8 {
			first.Add(1)
			w := dial(t, s.addr)
			wg.Go(func() {
				defer w.nc.Close()
				for n := 0; ; n++ {
					code := ask[*kmsg.OffsetCommitResponse](w, committing("g", "t", 0, 5), 7).Topics[0].Partitions[0].ErrorCode
					if n == 0 {
						first.Done()
					}
					if code != 0 {
						assert.Equal(t, kerr.UnknownTopicOrPartition.Code, code)
						return
					}
				}
			})
		}
		first.Wait()
		require.NoError(t, s.b.DeleteTopic("t"))
		wg.Wait()
		require.EqualValues(t, -1, committed(t, s, "g", "t"))
	}
}
