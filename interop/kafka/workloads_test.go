package kafka

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/internal/apache"
	"github.com/seglog/seglog/log"
)

// workload is something that Kafka's broker writes a partition for. To add one
// is to add a row.
type workload struct {
	name     string
	settings map[string]string // of the topic, beside small segments
	drive    func(t *testing.T, topic string)
	// left checks, before anything is compared, that the directory is what the
	// row is there for.
	left func(t *testing.T, saw readings, dir string)
}

func workloads() []workload {
	list := []workload{
		{name: "empty", drive: func(*testing.T, string) {}},
		verifiable(),
		{name: "headers", drive: headers},
		{name: "append-time", settings: map[string]string{"message.timestamp.type": "LogAppendTime"}, drive: func(t *testing.T, topic string) {
			for _, codec := range codecs {
				send(t, client(t, kgo.ProducerBatchCompression(codec)), produced(topic, 500, 60, "x")...)
			}
		}},
		{name: "recompressed", settings: map[string]string{"compression.type": "zstd"}, drive: func(t *testing.T, topic string) {
			send(t, client(t), produced(topic, 3000, 60, "x")...)
		}},
		{name: "by-age", settings: map[string]string{"segment.ms": "10000", "internal.segment.bytes": "1048576"}, drive: func(t *testing.T, topic string) {
			c := client(t, kgo.ProducerLinger(0))
			start := time.Now().Add(-time.Hour)
			for i := range 100 {
				r := produced(topic, 1, 60, "x")[0]
				r.Timestamp = start.Add(time.Duration(i) * 3 * time.Second)
				send(t, c, r)
			}
		}, left: func(t *testing.T, _ readings, dir string) { require.GreaterOrEqual(t, segmentsIn(t, dir), 10) }},
		{name: "transactions", drive: interleaved, left: func(t *testing.T, saw readings, dir string) {
			require.Less(t, len(saw.committed.records), len(saw.uncommitted.records))
			require.NotEmpty(t, glob(t, dir, "*.txnindex"))
		}},
		{name: "compacted", settings: compaction(), drive: compacted(false), left: leftByCompaction},
		{name: "compacted-transactions", settings: compaction(), drive: compacted(true), left: leftByCompaction},
		{name: "records-deleted", drive: func(t *testing.T, topic string) {
			send(t, client(t), produced(topic, 5000, 60, "x")...)
			deleteRecords(t, topic, 2345)
		}, left: func(t *testing.T, saw readings, _ string) { require.EqualValues(t, 2345, saw.uncommitted.begin) }},
		{name: "all-deleted", drive: func(t *testing.T, topic string) {
			send(t, client(t), produced(topic, 3000, 60, "x")...)
			deleteRecords(t, topic, 3000)
		}, left: func(t *testing.T, saw readings, _ string) {
			require.Equal(t, saw.uncommitted.end, saw.uncommitted.begin)
		}},
	}
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		list = append(list, workload{name: "perf-" + codec, drive: perf(codec)})
	}
	return list
}

// perf is Kafka's producer performance tool, half of it in transactions.
func perf(codec string) func(*testing.T, string) {
	return func(t *testing.T, topic string) {
		args := []string{"--bootstrap-server", run.broker.Addr(), "--topic", topic, "--num-records", "10000",
			"--record-size", "150", "--throughput", "-1", "--command-property", "acks=all", "compression.type=" + codec}
		run.judge.tool(t, apache.ProducerPerf, args...)
		run.judge.tool(t, apache.ProducerPerf, append(args, "--transactional-id", topic, "--transaction-duration-ms", "50")...)
	}
}

// verifiable is Kafka's verifiable producer: every record is where it was told
// that it is.
func verifiable() workload {
	said := map[int64]string{}
	return workload{name: "verifiable", drive: func(t *testing.T, topic string) {
		out, _ := run.judge.tool(t, apache.VerifiableProducer, "--bootstrap-server", run.broker.Addr(), "--topic", topic,
			"--max-messages", "3000", "--throughput", "-1", "--acks", "-1")
		for text := range strings.Lines(out) {
			var event struct {
				Name, Value string
				Offset      int64
			}
			require.NoError(t, json.Unmarshal([]byte(text), &event), text)
			require.NotEqual(t, "producer_send_error", event.Name, text)
			if event.Name == "producer_send_success" {
				said[event.Offset] = event.Value
			}
		}
		require.Len(t, said, 3000)
	}, left: func(t *testing.T, _ readings, dir string) {
		l, err := log.Open(t.Context(), dir, log.Options{Mode: log.ReadOnly})
		require.NoError(t, err)
		defer l.Close()
		for offset, value := range said {
			r, err := l.Read(offset)
			require.NoError(t, err)
			require.Equal(t, value, string(r.Value), "at offset %d", offset)
		}
	}}
}

func headers(t *testing.T, topic string) {
	for _, codec := range codecs {
		list := produced(topic, 300, 30, "h")
		for i, r := range list {
			switch i % 5 {
			case 0:
				r.Headers = []kgo.RecordHeader{{Key: "null"}, {Key: "empty", Value: []byte{}}, {Key: "", Value: []byte("v")}}
			case 1:
				r.Headers = []kgo.RecordHeader{{Key: "größe", Value: []byte("ü")}, {Key: "größe"}}
				r.Key = nil
			case 2:
				r.Value = nil
			case 3:
				r.Key, r.Value = []byte{}, []byte{}
			}
		}
		send(t, client(t, kgo.ProducerBatchCompression(codec)), list...)
	}
}

// interleaved transactions of three producers, and plain records between.
func interleaved(t *testing.T, topic string) {
	plain := client(t)
	var producers []*kgo.Client
	for i := range 3 {
		producers = append(producers, client(t, kgo.TransactionalID(fmt.Sprintf("%s-%d", topic, i)), kgo.ProducerBatchCompression(codecs[i])))
	}
	for round := range 12 {
		for _, c := range producers {
			require.NoError(t, c.BeginTransaction())
		}
		for part := range 3 {
			for i, c := range producers {
				send(t, c, produced(topic, 5+i, 80, fmt.Sprintf("%d %d %d", round, part, i))...)
			}
			send(t, plain, produced(topic, 2, 80, "plain")...)
		}
		for i, c := range producers {
			require.NoError(t, c.EndTransaction(t.Context(), kgo.TransactionEndTry((round+i)%3 != 0)))
		}
	}
}

func compaction() map[string]string {
	return map[string]string{
		"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "1",
		"internal.segment.bytes": "16384", "segment.ms": "604800000",
	}
}

// compacted writes the same keys again and again, with tombstones, until the
// cleaner has been there; and then some that it has not seen.
func compacted(transactions bool) func(t *testing.T, topic string) {
	return func(t *testing.T, topic string) {
		var c *kgo.Client
		if transactions {
			c = client(t, kgo.TransactionalID(topic))
		} else {
			c = client(t)
		}
		round := func(i int) {
			list := produced(topic, 60, 60, "c")
			for j, r := range list {
				if j%10 == i%10 {
					r.Value = nil
				} else {
					r.Value = fmt.Appendf(r.Value, " round %d", i)
				}
			}
			list = append(list, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "only in round %d", i), Value: []byte("v")})
			if transactions {
				transaction(t, c, kgo.TransactionEndTry(i%3 != 0), list...)
			} else {
				send(t, c, list...)
			}
		}
		for i := range 30 {
			round(i)
		}
		require.Eventually(t, func() bool { return cleaned(t, topic) > 1000 }, 60*time.Second, 50*time.Millisecond, "the cleaner did not come")
		for i := range 3 {
			round(30 + i)
		}
	}
}

// cleaned is how far the cleaner has been.
func cleaned(t *testing.T, topic string) int64 {
	text, err := os.ReadFile(filepath.Join(run.broker.Data(), "cleaner-offset-checkpoint"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == topic {
			n, err := strconv.ParseInt(fields[2], 10, 64)
			require.NoError(t, err)
			return n
		}
	}
	return 0
}

func leftByCompaction(t *testing.T, saw readings, _ string) {
	require.Less(t, int64(len(saw.uncommitted.records)), saw.uncommitted.end/2, "records left of %d offsets", saw.uncommitted.end)
}

func deleteRecords(t *testing.T, topic string, before int64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "delete.json")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"partitions":[{"topic":%q,"partition":0,"offset":%d}],"version":1}`, topic, before), 0o644))
	out, _ := run.judge.tool(t, apache.DeleteRecords, "--bootstrap-server", run.broker.Addr(), "--offset-json-file", file)
	require.Contains(t, out, fmt.Sprintf("low_watermark: %d", before))
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	return names
}

func segmentsIn(t *testing.T, dir string) int { return len(glob(t, dir, "*.log")) }
