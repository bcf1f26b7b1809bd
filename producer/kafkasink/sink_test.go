package kafkasink_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/seglog/seglog/producer"
	"github.com/seglog/seglog/producer/kafkasink"
	"github.com/seglog/seglog/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a broker in this process, with a topic t of three partitions.
func cluster(t *testing.T) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.SeedTopics(3, "t"))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func begin(t *testing.T, c *kfake.Cluster, o producer.Options) *producer.Producer {
	t.Helper()
	sink, err := kafkasink.New(kgo.SeedBrokers(c.ListenAddrs()...))
	require.NoError(t, err)
	t.Cleanup(sink.Close)
	p, err := producer.New(sink, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, p.Close(ctx))
	})
	return p
}

// read is what the cluster has of t, by partition and offset.
func read(t *testing.T, c *kfake.Cluster, n int) map[int32][]string {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics("t"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	got := make(map[int32][]string)
	for n > 0 {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			require.EqualValues(t, len(got[r.Partition]), r.Offset)
			got[r.Partition] = append(got[r.Partition], string(r.Value))
			n--
		})
	}
	require.Zero(t, n)
	return got
}

// TestRecordsArrive: with every kind of acknowledgement and codec, once, in
// order, at the offsets that are told.
func TestRecordsArrive(t *testing.T) {
	for name, o := range map[string]producer.Options{
		"all":    {},
		"leader": {Acks: producer.AcksLeader, Compression: record.LZ4},
		"none":   {Acks: producer.AcksNone, Compression: record.Zstd},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t)
			o.BatchBytes = 500
			p := begin(t, c, o)
			const n = 3000
			var futures []*producer.Future
			for i := range n {
				futures = append(futures, p.Send(context.Background(), producer.Record{
					Topic: "t", Partition: producer.At(int32(i % 3)), Value: fmt.Append(nil, i)}))
			}
			require.NoError(t, p.Flush(context.Background()))
			got := read(t, c, n)
			for i, f := range futures {
				d, err := f.Result()
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(i), got[int32(i%3)][i/3])
				require.Equal(t, o.Acks != producer.AcksNone, d.Stored)
				if d.Stored {
					require.EqualValues(t, i/3, d.Offset)
				}
			}
		})
	}
}

// TestTrouble: requests fail in the ways of a cluster, and everything arrives
// once, in order.
func TestTrouble(t *testing.T) {
	c := cluster(t)
	var calls atomic.Int64
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		n := calls.Add(1)
		if n%4 != 0 {
			return nil, nil, false
		}
		code := []int16{kerr.NotLeaderForPartition.Code, kerr.NotEnoughReplicas.Code, kerr.RequestTimedOut.Code}[n/4%3]
		r := req.(*kmsg.ProduceRequest)
		resp := r.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range r.Topics {
			rt := kmsg.NewProduceResponseTopic()
			rt.Topic, rt.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				rp := kmsg.NewProduceResponseTopicPartition()
				rp.Partition, rp.ErrorCode = partition.Partition, code
				rt.Partitions = append(rt.Partitions, rp)
			}
			resp.Topics = append(resp.Topics, rt)
		}
		return resp, nil, true
	})
	p := begin(t, c, producer.Options{BatchBytes: 300, RetryBackoff: time.Millisecond, RetryBackoffMax: 5 * time.Millisecond})
	const n = 600
	for i := range n {
		p.Send(context.Background(), producer.Record{Topic: "t", Partition: producer.At(0), Value: fmt.Append(nil, i)})
	}
	require.NoError(t, p.Flush(context.Background()))
	require.Positive(t, p.Stats().Retries)
	for i, v := range read(t, c, n)[0] {
		require.Equal(t, fmt.Sprint(i), v)
	}
}

// TestNoBroker: who cannot be reached is retried until the record's time is up.
func TestNoBroker(t *testing.T) {
	c := cluster(t)
	p := begin(t, c, producer.Options{RequestTimeout: 200 * time.Millisecond, DeliveryTimeout: 500 * time.Millisecond, MaxBlock: time.Second})
	_, err := p.SendSync(context.Background(), producer.Record{Topic: "t", Value: []byte("v")})
	require.NoError(t, err)
	c.Close()
	_, err = p.SendSync(context.Background(), producer.Record{Topic: "t", Value: []byte("v")})
	require.ErrorIs(t, err, producer.ErrTimeout)
	_, err = p.SendSync(context.Background(), producer.Record{Topic: "other", Value: []byte("v")})
	require.ErrorIs(t, err, producer.ErrMetadata)
}
