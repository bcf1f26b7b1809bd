package kafka

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// client is a Kafka client of the running broker.
func client(t *testing.T, o ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(run.broker.Addr()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(12 << 10), // a segment takes it
	}, o...)...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// smallSegments are segments below the smallest that segment.bytes takes.
var smallSegments = map[string]string{"internal.segment.bytes": strconv.Itoa(64 << 10)}

// createTopics creates topics of one partition, with Kafka's names of settings.
func createTopics(t *testing.T, topics map[string]map[string]string) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 60_000
	for topic, settings := range topics {
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, 1, 1
		for name, value := range settings {
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = name, kmsg.StringPtr(value)
			rt.Configs = append(rt.Configs, c)
		}
		req.Topics = append(req.Topics, rt)
	}
	c := client(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := req.RequestWith(ctx, c)
	require.NoError(t, err)
	for _, topic := range resp.Topics {
		require.NoError(t, kerr.ErrorForCode(topic.ErrorCode), topic.Topic)
	}
	// Kafka answers before the partitions are there.
	for topic := range topics {
		require.Eventually(t, func() bool { return exists(run.broker.partition(topic) + "/partition.metadata") }, 30*time.Second, 20*time.Millisecond, topic)
	}
}

// produced makes n records to be sent to a topic.
func produced(topic string, n, size int, seed string) []*kgo.Record {
	list := make([]*kgo.Record, n)
	for i := range list {
		list[i] = &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "%s key %d", seed, i), Value: fmt.Appendf(nil, "%s value %d %0*d", seed, i, size, i)}
	}
	return list
}

// send produces records and waits for all.
func send(t *testing.T, c *kgo.Client, records ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, c.ProduceSync(ctx, records...).FirstErr())
}

// transaction produces records in a transaction and ends it.
func transaction(t *testing.T, c *kgo.Client, commit kgo.TransactionEndTry, records ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, c.BeginTransaction())
	require.NoError(t, c.ProduceSync(ctx, records...).FirstErr())
	require.NoError(t, c.EndTransaction(ctx, commit))
}
