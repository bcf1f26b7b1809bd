package kafka

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/broker"
)

// consume reads n records of the topic from its beginning and hands them to f.
func consume(t *testing.T, addr, topic string, n int, f func(*kgo.Record), opts ...kgo.Opt) {
	t.Helper()
	c := client(t, addr, append(opts, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n > 0 {
		fetches := c.PollFetches(ctx)
		for _, e := range fetches.Errors() {
			require.NoError(t, e.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) { f(r); n-- })
	}
	require.Zero(t, n)
}

// TestCodecs: each codec comes through, and each that a topic asks for.
func TestCodecs(t *testing.T) {
	s := serve(t, t.TempDir(), "", nil)
	codecs := map[string]kgo.CompressionCodec{"uncompressed": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	for from, codec := range codecs {
		for _, to := range []string{"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"} {
			topic := from + "-to-" + to
			_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: topic, Configs: map[string]string{"compression.type": to}})
			require.NoError(t, err)
			c := client(t, s.addr, kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(topic))
			const n = 200
			var records []*kgo.Record
			for i := range n {
				records = append(records, &kgo.Record{Key: fmt.Append(nil, "key", i), Value: fmt.Append(nil, "value of some length ", i),
					Headers: []kgo.RecordHeader{{Key: "h", Value: []byte{byte(i)}}}})
			}
			require.NoError(t, c.ProduceSync(t.Context(), records...).FirstErr())
			i := 0
			consume(t, s.addr, topic, n, func(r *kgo.Record) {
				require.Equal(t, fmt.Sprint("key", i), string(r.Key))
				require.Equal(t, fmt.Sprint("value of some length ", i), string(r.Value))
				require.Equal(t, []byte{byte(i)}, r.Headers[0].Value)
				i++
			})
			want := to
			if to == "producer" {
				want = from
			}
			assert.Equal(t, want, storedCodec(t, s.b, topic), topic)
		}
	}
}

func storedCodec(t *testing.T, b *broker.Broker, topic string) string {
	t.Helper()
	p, err := b.Partition(topic, 0)
	require.NoError(t, err)
	l, err := p.Log()
	require.NoError(t, err)
	v, err := l.Borrow(0, 1)
	require.NoError(t, err)
	defer v.Release()
	for batch := range v.Batches() {
		if name := batch.Codec().String(); name != "none" {
			return name
		}
	}
	return "uncompressed"
}

// TestMany: a million records, from several producers, each once and in order.
func TestMany(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	s := serve(t, t.TempDir(), "", nil)
	const partitions = 4
	_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "many", Partitions: partitions})
	require.NoError(t, err)
	c := client(t, s.addr, kgo.DefaultProduceTopic("many"), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MaxBufferedRecords(50_000), kgo.ProducerBatchMaxBytes(1_000_000))
	var failed atomic.Pointer[error]
	for i := range n {
		value := binary.BigEndian.AppendUint32(make([]byte, 0, 100), uint32(i))
		c.Produce(t.Context(), &kgo.Record{Partition: int32(i % partitions), Value: value[:100]}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	require.NoError(t, c.Flush(t.Context()))
	require.Nil(t, failed.Load())
	var next [partitions]int
	for p := range next {
		next[p] = p
	}
	consume(t, s.addr, "many", n, func(r *kgo.Record) {
		if got := int(binary.BigEndian.Uint32(r.Value)); got != next[r.Partition] {
			t.Fatalf("partition %d: record %d, want %d", r.Partition, got, next[r.Partition])
		}
		next[r.Partition] += partitions
	})
}

// TestRestarts: a broker that ends and starts again under load loses nothing that
// it acknowledged, and idempotent producers' retries are not there twice.
func TestRestarts(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir, "", nil)
	_, err := s.b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t", Partitions: 2})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var acknowledged tally
	var wg sync.WaitGroup
	for n := range 2 {
		c := client(t, s.addr, kgo.DefaultProduceTopic("t"), kgo.ProducerLinger(0), kgo.RetryTimeout(time.Minute),
			kgo.RetryBackoffFn(func(int) time.Duration { return 5 * time.Millisecond }), kgo.RecordRetries(1000))
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				value := fmt.Sprintf("%d-%d", n, i)
				if err := c.ProduceSync(context.Background(), kgo.StringRecord(value)).FirstErr(); err != nil {
					t.Errorf("%s: %v", value, err)
					return
				}
				acknowledged.add(value)
			}
		})
	}
	for range 4 {
		time.Sleep(200 * time.Millisecond)
		addr := s.addr
		s.stop()
		s = serve(t, dir, addr, nil)
	}
	time.Sleep(100 * time.Millisecond)
	stop()
	wg.Wait()
	require.NotEmpty(t, acknowledged.seen)
	total := 0
	for _, p := range []int32{0, 1} {
		at, err := s.b.Partition("t", p)
		require.NoError(t, err)
		l, err := at.Log()
		require.NoError(t, err)
		total += int(l.End())
	}
	seen := make(map[string]int)
	consume(t, s.addr, "t", total, func(r *kgo.Record) { seen[string(r.Value)]++ })
	for value, n := range acknowledged.seen {
		require.Equal(t, 1, n)
		require.Equal(t, 1, seen[value], "%s was acknowledged, and is there so many times", value)
	}
	require.Equal(t, len(acknowledged.seen), len(seen), "nothing else is there")
}
