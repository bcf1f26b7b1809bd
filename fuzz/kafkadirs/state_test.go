package kafkadirs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// partitions are the directories in which a broker left a snapshot of the
// producers as of the log's end.
func partitions(t *testing.T) []string {
	t.Helper()
	var dirs []string
	logs, err := filepath.Glob(filepath.Join(testkit.KafkaDirs(t), "*", "*", "*.log"))
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, name := range logs {
		if dir := filepath.Dir(name); !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// What is derived from the batches alone is what Kafka wrote of its producers
// when it closed the log.
func TestProducersAsKafkaKeptThem(t *testing.T) {
	compared := 0
	for _, from := range partitions(t) {
		dir := testkit.CopyTree(t, from)
		l, err := log.Open(t.Context(), dir, readOnly(small()))
		if err != nil {
			continue // message formats that are refused
		}
		end := l.End()
		require.NoError(t, l.Close())
		kept, err := os.ReadFile(filepath.Join(dir, segment.Name(end, segment.SnapshotSuffix)))
		if err != nil {
			continue
		}
		table, err := producers.Decode(kept, end)
		require.NoError(t, err)
		snapshots, err := filepath.Glob(filepath.Join(dir, "*.snapshot"))
		require.NoError(t, err)
		for _, s := range snapshots {
			require.NoError(t, os.Remove(s))
		}
		l = open(t, dir, readOnly(small()))
		want := map[int64]log.ProducerState{}
		for _, p := range table.Producers() {
			want[p.ID] = p
		}
		for _, p := range l.Producers() {
			require.Equal(t, want[p.ID], p, from)
			compared++
		}
		require.NoError(t, l.Close())
	}
	require.Greater(t, compared, 10)
	t.Logf("%d producers", compared)
}

// A log that Kafka closed keeps its leader epochs.
func TestEpochsAsKafkaKeptThem(t *testing.T) {
	compared := 0
	for _, from := range partitions(t) {
		dir := testkit.CopyTree(t, from)
		text, err := os.ReadFile(filepath.Join(dir, epochs.FileName))
		if err != nil {
			continue
		}
		want, err := epochs.Decode(text)
		require.NoError(t, err)
		l, err := log.Open(t.Context(), dir, small())
		if err != nil {
			continue
		}
		want.TruncateFromEnd(l.End()) // as Kafka does when it loads a log
		want.TruncateFromStart(l.First())
		require.ElementsMatch(t, want.Entries(), l.LeaderEpochs(), from)
		require.NoError(t, l.Close())
		compared++
	}
	require.Greater(t, compared, 10)
	t.Logf("%d histories", compared)
}
