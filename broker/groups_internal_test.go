package broker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/group"
	stored "github.com/seglog/seglog/internal/coordinator"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func openGroups(t *testing.T, dir string) *Broker {
	t.Helper()
	b, err := Open(dir, Options{Config: map[string]string{"offsets.topic.num.partitions": "1"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func commitOffset(t *testing.T, b *Broker, topic string, offset int64) {
	t.Helper()
	code := group.UnknownServerError
	require.NoError(t, b.Group("g", func(c *group.Coordinator, now time.Time) {
		r := group.CommitRequest{Group: "g", Generation: -1, Offsets: []group.Commit{{TopicPartition: group.TopicPartition{Topic: topic}, Offset: offset}}}
		c.Commit(now, r, func(a []group.Committed) { code = a[0].Code })
	}))
	require.Equal(t, group.None, code)
}

// committedOffsets are those of the group, by topic, when they are loaded.
func committedOffsets(t *testing.T, b *Broker) (map[string]int64, group.Code) {
	t.Helper()
	var list []group.Fetched
	var code group.Code
	require.Eventually(t, func() bool {
		require.NoError(t, b.Group("g", func(c *group.Coordinator, _ time.Time) { list, code = c.FetchAll("g", false) }))
		return code != group.CoordinatorLoadInProgress
	}, 20*time.Second, time.Millisecond)
	offsets := make(map[string]int64)
	for _, f := range list {
		offsets[f.Topic] = f.Offset.Offset
	}
	return offsets, code
}

// TestGroupsLoad: groups are as their log says: records of transactions count if
// those were committed, and what cannot be made out is passed over.
func TestGroupsLoad(t *testing.T) {
	dir := t.TempDir()
	b := openGroups(t, dir)
	_, err := b.OffsetsTopic(t.Context())
	require.NoError(t, err)
	p, err := b.Partition(ConsumerOffsets, 0)
	require.NoError(t, err)
	commitOffset(t, b, "plain", 1)
	_, err = b.Produce(t.Context(), ConsumerOffsets, 0, record.Record{Key: []byte{0, 99}, Value: []byte("of a later Kafka")},
		record.Record{Key: []byte{0, 1, 0}, Value: []byte("cut short")})
	require.NoError(t, err)
	for producer, topic := range map[int64]string{7: "committed", 8: "aborted", 9: "open"} {
		var builder record.Builder
		builder.Reset(record.BatchOptions{LeaderEpoch: -1, Transactional: true, Producer: &record.Producer{ID: producer}})
		require.NoError(t, builder.Add(&record.Record{Time: time.Now(), Key: stored.OffsetKey{Group: "g", Topic: topic}.Append(nil),
			Value: stored.OffsetValue{Offset: producer, LeaderEpoch: -1, ExpireTimestamp: -1}.Append(nil)}))
		raw, err := builder.Build()
		require.NoError(t, err)
		_, err = p.Append(t.Context(), raw)
		require.NoError(t, err)
	}
	l, err := p.Log()
	require.NoError(t, err)
	for producer, commit := range map[int64]bool{7: true, 8: false} {
		_, err = l.EndTransaction(log.EndTxn{ProducerID: producer, Commit: commit})
		require.NoError(t, err)
	}
	commitOffset(t, b, "after", 2)
	require.NoError(t, b.Close())

	got, code := committedOffsets(t, openGroups(t, dir))
	require.Equal(t, group.None, code)
	require.Equal(t, map[string]int64{"plain": 1, "committed": 7, "after": 2}, got)
}

// TestGroupsOfADamagedLog: without all of its records nothing is told of a group.
func TestGroupsOfADamagedLog(t *testing.T) {
	dir := t.TempDir()
	b := openGroups(t, dir)
	_, err := b.OffsetsTopic(t.Context())
	require.NoError(t, err)
	for n := range int64(3) {
		commitOffset(t, b, "t", n)
	}
	require.NoError(t, b.Close())
	files, err := filepath.Glob(filepath.Join(dir, ConsumerOffsets+"-0", "*.log"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("damage"), 80)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	_, code := committedOffsets(t, openGroups(t, dir))
	require.Equal(t, group.NotCoordinator, code)
}

// TestDeletionThatACrashInterrupted: the offsets of the topic go when groups are
// loaded.
func TestDeletionThatACrashInterrupted(t *testing.T) {
	dir := t.TempDir()
	b := openGroups(t, dir)
	_, err := b.OffsetsTopic(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"t", "kept"} {
		_, err = b.CreateTopic(t.Context(), TopicSpec{Name: name})
		require.NoError(t, err)
		commitOffset(t, b, name, 5)
	}
	b.change.state.Topics["t"].Deleting = true
	require.NoError(t, b.save())
	require.NoError(t, b.Close())

	got, code := committedOffsets(t, openGroups(t, dir))
	require.Equal(t, group.None, code)
	require.Equal(t, map[string]int64{"kept": 5}, got)
}

func TestGroupConfig(t *testing.T) {
	c := &config{static: map[string]string{"group.min.session.timeout.ms": "0", "group.max.session.timeout.ms": "7", "group.max.size": "8",
		"group.initial.rebalance.delay.ms": "9", "offsets.retention.minutes": "10", "offsets.retention.check.interval.ms": "11", "offset.metadata.max.bytes": "12"}}
	require.Equal(t, group.Config{MinSessionTimeout: 1, MaxSessionTimeout: 7 * time.Millisecond, MaxSize: 8, InitialRebalanceDelay: 9 * time.Millisecond,
		OffsetsRetention: 10 * time.Minute, OffsetsRetentionCheck: 11 * time.Millisecond, MaxOffsetMetadata: 12}, c.groupConfig())
	c.static = map[string]string{"group.initial.rebalance.delay.ms": "0", "offsets.retention.minutes": "2147483647"}
	require.EqualValues(t, group.NoInitialDelay, c.groupConfig().InitialRebalanceDelay)
	require.Greater(t, c.groupConfig().OffsetsRetention, 200*365*24*time.Hour, "as long as there is, without overflow")
	require.Equal(t, 6*time.Second, c.groupConfig().MinSessionTimeout)
}

// TestCloseEndsGroups: who waits for a group is told, and nothing is due any more.
func TestCloseEndsGroups(t *testing.T) {
	b := openGroups(t, t.TempDir())
	_, err := b.OffsetsTopic(t.Context())
	require.NoError(t, err)
	k := b.groups.mu.all[0]
	var got group.JoinResponse
	require.NoError(t, b.Group("g", func(c *group.Coordinator, now time.Time) { // its first generation is in 3 s
		c.Join(now, group.JoinRequest{Group: "g", SessionTimeout: time.Minute, RebalanceTimeout: time.Minute, ProtocolType: "consumer",
			Protocols: []group.Protocol{{Name: "range"}}}, func(r group.JoinResponse) { got = r })
	}))
	require.Equal(t, group.None, got.Code)
	require.NoError(t, b.Close())
	require.Equal(t, group.NotCoordinator, got.Code)
	require.False(t, k.mu.timer.Stop(), "the timer runs on")
	require.Error(t, b.Group("g", func(*group.Coordinator, time.Time) {}))
}
