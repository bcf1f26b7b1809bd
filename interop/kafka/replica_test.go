package kafka

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// TestReplicasOfKafkasOwnTopics: partitions that only the broker writes, of
// committed offsets, transactions and cluster metadata, are copied through the
// engine. Kafka's tool decodes of ours what it decodes of its own.
func TestReplicasOfKafkasOwnTopics(t *testing.T) {
	needsKafka(t)
	broker := &run.broker
	broker.start(t)
	createTopics(t, map[string]map[string]string{"replicated": smallSegments})
	filled(t, "replicated")
	broker.stop(t)

	for _, c := range []struct{ prefix, decoder string }{
		{"__consumer_offsets-", "--offsets-decoder"},
		{"__transaction_state-", "--transaction-log-decoder"},
		{"__cluster_metadata-", "--cluster-metadata-decoder"},
	} {
		copies, _ := replicated(t, glob(t, broker.Data(), c.prefix+"*"), c.decoder)
		require.NotZero(t, copies.records, "nothing in %s*", c.prefix)
		t.Logf("%s: %v", c.decoder, copies)
	}
}

// replicated copies partitions of Kafka's batch by batch through the engine, as
// a follower does. The bytes of the log have to be the same, and what Kafka's
// tool prints of the copy what it prints of its own; of its own that has to be
// what the engine reads, if no decoder is in between.
func replicated(t *testing.T, dirs []string, flags ...string) (copies, originals counts) {
	t.Helper()
	var from, to []string
	for _, dir := range dirs {
		replica := filepath.Join(run.dir, "replicas", filepath.Base(dir))
		if replicate(t, dir, replica) > 0 {
			from, to = append(from, dir), append(to, replica)
		}
	}
	printed, ofOurs := dump(t, from, flags...), dump(t, to, flags...)
	for i, dir := range from {
		t.Run("replicated/"+filepath.Base(dir), func(t *testing.T) {
			want, got := batchesAndRecords(printed[dir]), batchesAndRecords(ofOurs[to[i]])
			require.Equal(t, want, got)
			require.NotEmpty(t, got)
			require.Empty(t, complaintsButGaps(ofOurs[to[i]].complaints))
			if slices.Equal(flags, deep.flags()) {
				printed[dir].same(t, render(t, dir, deep))
				ofOurs[to[i]].same(t, render(t, to[i], deep))
			}
			copies.add(ofOurs[to[i]])
			originals.add(printed[dir])
		})
	}
	return copies, originals
}

// replicate copies a log through AppendBatch and returns how many batches.
func replicate(t *testing.T, from, to string) int {
	t.Helper()
	l, err := log.Open(t.Context(), to, log.Options{SegmentBytes: 1 << 20})
	require.NoError(t, err)
	var all []byte
	n := 0
	for _, name := range logs(t, from) {
		content, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(t, err)
		for pos := 0; pos < len(content) && slices.Max(content[pos:min(len(content), pos+record.HeaderSize)]) > 0; n++ {
			b, err := record.Parse(content[pos:])
			require.NoError(t, err, "%s at position %d", name, pos)
			_, err = l.AppendBatch(slices.Clone(b.Bytes()), log.FromLeader)
			require.NoError(t, err, "%s at position %d", name, pos)
			all = append(all, b.Bytes()...)
			pos += b.Size
		}
	}
	require.NoError(t, l.Close())
	var ours []byte
	for _, name := range logs(t, to) {
		content, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		ours = append(ours, content...)
	}
	require.True(t, string(all) == string(ours), "%s: the bytes of the batches differ", to)
	return n
}

func logs(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for _, name := range parts(t, dir) {
		if _, suffix, ok := segment.ParseName(name); ok && suffix == segment.LogSuffix {
			names = append(names, name)
		}
	}
	return names
}

// batchesAndRecords are the lines of a dump that do not depend on where
// segments end.
func batchesAndRecords(d *dumped) []string {
	var names []string
	for name := range d.lines {
		if strings.HasSuffix(name, segment.LogSuffix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []string
	for _, name := range names {
		for _, l := range d.lines[name][1:] {
			before, behind, ok := strings.Cut(l, " position: ")
			if ok && strings.HasPrefix(l, "baseOffset: ") {
				_, behind, _ = strings.Cut(behind, " ")
				l = before + " " + behind
			}
			list = append(list, l)
		}
	}
	return list
}

// filled has a group commit offsets, also within transactions, so that there
// is something in the internal topics.
func filled(t *testing.T, topic string) {
	t.Helper()
	run.judge.tool(t, apache.ProducerPerf, "--bootstrap-server", run.broker.Addr(), "--topic", topic, "--num-records", "2000",
		"--record-size", "100", "--throughput", "-1", "--transactional-id", "filler", "--transaction-duration-ms", "100")
	for _, group := range []string{"first", "second"} {
		run.judge.tool(t, apache.ConsumerPerf, "--bootstrap-server", run.broker.Addr(), "--topic", topic, "--num-records", "1000", "--group", group)
	}
}
