package broker

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// TestKilledGroups: a group whose broker is killed again and again goes on: what
// it has committed is never less than was acknowledged, and its members stay.
func TestKilledGroups(t *testing.T) {
	k := started(t, "group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=3")
	patient := []kgo.Opt{kgo.SeedBrokers(k.Addr()), kgo.AllowAutoTopicCreation(), kgo.RequestRetries(10_000), kgo.RetryTimeout(time.Minute),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond })}
	produce, err := kgo.NewClient(append(patient, kgo.DefaultProduceTopic("t"), kgo.RecordRetries(10_000))...)
	require.NoError(t, err)
	defer produce.Close()
	consume, err := kgo.NewClient(append(patient, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(20*time.Second))...)
	require.NoError(t, err)
	defer consume.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var id string
	var generation int32
	for round := range int64(5) {
		for range 3 {
			require.NoError(t, produce.ProduceSync(ctx, kgo.StringRecord("x")).FirstErr())
		}
		for got := 0; got < 3; {
			fetches := consume.PollFetches(ctx)
			require.NoError(t, ctx.Err())
			got += fetches.NumRecords()
		}
		require.NoError(t, consume.CommitUncommittedOffsets(ctx))
		if round == 0 {
			id, generation = consume.GroupMetadata()
		}
		k.Kill()
		require.NoError(t, k.Start(t.Context()))
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = "g"
		topic := kmsg.NewOffsetFetchRequestTopic()
		topic.Topic, topic.Partitions = "t", []int32{0}
		req.Topics = append(req.Topics, topic)
		admin, err := kgo.NewClient(append(patient, kgo.MaxVersions(kversion.V3_0_0()))...) // topics by their names
		require.NoError(t, err)
		resp, err := req.RequestWith(ctx, admin)
		admin.Close()
		require.NoError(t, err)
		require.Zero(t, resp.ErrorCode)
		require.Equal(t, 3*(round+1), resp.Topics[0].Partitions[0].Offset)
	}
	now, still := consume.GroupMetadata()
	require.Equal(t, id, now)
	require.Equal(t, generation, still, "there was no rebalance")
}

// TestKilled: of a broker that is killed again and again under load nothing that
// it acknowledged is lost, and nothing is there twice.
func TestKilled(t *testing.T) {
	k := started(t, "num.partitions=3")
	var mu sync.Mutex
	acknowledged := make(map[string]bool)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for n := range 3 {
		c, err := kgo.NewClient(kgo.SeedBrokers(k.Addr()), kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("t"),
			kgo.RecordRetries(10_000), kgo.RetryTimeout(2*time.Minute), kgo.ProducerLinger(0),
			kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }))
		require.NoError(t, err)
		defer c.Close()
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				var batch []*kgo.Record
				for j := range 10 {
					batch = append(batch, kgo.StringRecord(fmt.Sprintf("%d-%d-%d", n, i, j)))
				}
				for _, r := range c.ProduceSync(context.Background(), batch...) {
					if r.Err != nil {
						t.Errorf("%s: %v", r.Record.Value, r.Err)
						return
					}
					mu.Lock()
					acknowledged[string(r.Record.Value)] = true
					mu.Unlock()
				}
			}
		})
	}
	for range 6 {
		time.Sleep(400 * time.Millisecond)
		k.Kill()
		require.NoError(t, k.Start(t.Context()))
	}
	time.Sleep(300 * time.Millisecond)
	stop()
	wg.Wait()

	c, err := kgo.NewClient(kgo.SeedBrokers(k.Addr()), kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	require.NoError(t, err)
	defer c.Close()
	seen := make(map[string]int)
	poll, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(seen) < len(acknowledged) {
		fetches := c.PollFetches(poll)
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { seen[string(r.Value)]++ })
	}
	for value := range acknowledged {
		require.Equal(t, 1, seen[value], "%s was acknowledged, and is there so many times", value)
	}
	t.Logf("%d records acknowledged over 6 kills", len(acknowledged))
}
