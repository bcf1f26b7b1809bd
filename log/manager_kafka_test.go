package log_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// expected is what Kafka told of a partition: the first line of its file in
// kafka-dirs.
type expected struct {
	first, end, records int64
}

// expectations reads all of those lines, by the partition's name.
func expectations(t *testing.T, root string) map[string]expected {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "expected-*.txt"))
	require.NoError(t, err)
	found := make(map[string]expected)
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(t, err)
		line, err := bufio.NewReader(f).ReadString('\n')
		require.NoError(t, errors.Join(err, f.Close()))
		var partition string
		var e expected
		var stable int64
		_, err = fmt.Sscanf(strings.Replace(line, ": ", " ", 1), "# %s beginning=%d lastStableOffset=%d end=%d readUncommitted=%d",
			&partition, &e.first, &stable, &e.end, &e.records)
		require.NoError(t, err, line)
		found[partition] = e
	}
	require.Len(t, found, 11)
	return found
}

// logDirs are the whole log directories among Kafka's.
func logDirs(t *testing.T, root string) (dirs []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == kafkadir.MetaFile && !strings.Contains(name, "logdir-files") {
			dirs = append(dirs, filepath.Dir(name))
		}
		return err
	}))
	require.Len(t, dirs, 10)
	return dirs
}

// TestManagerOfKafkas: the log directories that Kafka wrote open, with what its
// own consumer read of each partition; they take appends, and open again as
// left; read-only, nothing of them is changed.
func TestManagerOfKafkas(t *testing.T) {
	root := testkit.KafkaDirs(t)
	want := expectations(t, root)
	seen := 0
	for _, original := range logDirs(t, root) {
		rel, err := filepath.Rel(root, original)
		require.NoError(t, err)
		t.Run(filepath.ToSlash(rel), func(t *testing.T) {
			dir := testkit.CopyTree(t, original)
			before := testkit.Snapshot(t, dir)
			_, err := os.Stat(filepath.Join(dir, kafkadir.CleanShutdownFile))
			clean := err == nil
			o := log.ManagerOptions{Log: log.Options{SegmentBytes: 1 << 20, Mode: log.ReadOnly}}
			m := manage(t, dir, o)
			require.Equal(t, clean, m.Found().Clean)
			require.Empty(t, m.Found().Notes)
			require.Equal(t, int32(1), m.Found().Meta.NodeID)
			seen += wantExpected(t, m, want)
			require.NoError(t, m.Close())
			require.Equal(t, before, testkit.Snapshot(t, dir), "read-only")

			o.Log.Mode = log.ReadWrite
			m = manage(t, dir, o)
			wantExpected(t, m, want)
			for _, p := range m.Partitions() {
				require.NotZero(t, p.TopicID)
				if p.Log != nil {
					_, err := p.Log.Append(rec("behind"))
					require.NoError(t, err)
				}
			}
			require.NoError(t, m.Close())
			starts, err := kafkadir.ReadOffsets(vfs.OS, dir, kafkadir.LogStartFile)
			require.NoError(t, err)
			points, err := kafkadir.ReadOffsets(vfs.OS, dir, kafkadir.RecoveryPointFile)
			require.NoError(t, err)
			m = manage(t, dir, o)
			require.True(t, m.Found().Clean)
			for name, l := range m.Logs() {
				require.True(t, l.Recovery().Clean, name)
				require.Equal(t, want[name].end+1, l.End(), name)
				require.Equal(t, want[name].first, l.First(), name)
				require.Equal(t, l.End(), points[name], name)
			}
			if _, ok := want["delete-records-0"]; ok && rel == "delete-records" {
				require.Equal(t, kafkadir.Offsets{"delete-records-0": 22}, starts)
			}
			require.NoError(t, m.Close())
		})
	}
	require.Equal(t, len(want), seen, "a partition of which Kafka told is in no directory")
}

// wantExpected counts the partitions it has held against what Kafka told.
func wantExpected(t *testing.T, m *log.Manager, want map[string]expected) (n int) {
	t.Helper()
	for _, p := range m.Partitions() {
		require.NoError(t, p.Err)
		if p.State != log.PartitionLive {
			require.Nil(t, p.Log)
			continue
		}
		n++
		e, ok := want[p.Name]
		require.True(t, ok, "Kafka told nothing of %s, only of %v", p.Name, slices.Sorted(maps.Keys(want)))
		require.Equal(t, e.first, p.Log.First(), p.Name)
		require.Equal(t, e.end, p.Log.End(), p.Name)
		records := int64(0)
		for _, err := range p.Log.From(p.Log.First()) {
			require.NoError(t, err)
			records++
		}
		require.Equal(t, e.records, records, p.Name)
	}
	return n
}

// TestManagerOfMoves: a partition that was being moved is there twice, live in
// one directory and as a future copy in the other; one that was being deleted
// is gone when the directory is closed.
func TestManagerOfMoves(t *testing.T) {
	dir := testkit.CopyTree(t, filepath.Join(testkit.KafkaDirs(t), "suffix-dirs", "data2"))
	m := manage(t, dir, log.ManagerOptions{})
	require.Equal(t, []string{"moving 0 future", "removed 0 deleted"}, partitions(m))
	require.NoError(t, m.Close())
	require.Contains(t, names(t, vfs.OS, dir), "moving-0.f805302a12734e33ac1d7e0c1307c059-future")
	m = manage(t, dir, log.ManagerOptions{})
	require.Equal(t, []string{"moving 0 future"}, partitions(m))
	require.NoError(t, m.Close())
}
