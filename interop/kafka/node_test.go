package kafka

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
)

// node is the one broker of a run, started and stopped as tests need it. Its
// topics stay.
type node struct{ apache.Node }

func newNode(k apache.Kafka, dir string) node {
	return node{apache.Node{Kafka: k, Dir: dir, Settings: nodeSettings, Heap: nodeHeap}}
}

var nodeHeap = []string{"-Xms128m", "-Xmx384m", "-XX:+UseSerialGC"}

// dedupeBytes is the memory of the cleaner's map, hardly more than a broker
// accepts: 58,982 keys fill it.
const dedupeBytes = 3 << 19

// nodeSettings: no more memory than needed, a cleaner that does not wait.
var nodeSettings = []string{
	"auto.create.topics.enable=false",
	"log.cleaner.backoff.ms=100",
	"log.initial.task.delay.ms=200",
	"log.cleaner.dedupe.buffer.size=" + strconv.Itoa(dedupeBytes),
	"log.segment.delete.delay.ms=1000",
	"log.flush.start.offset.checkpoint.interval.ms=200",
	"transaction.abort.timed.out.transaction.cleanup.interval.ms=500",
	"num.network.threads=2",
	"num.io.threads=2",
}

// partition is the directory of partition 0 of a topic.
func (n *node) partition(topic string) string { return filepath.Join(n.Data(), topic+"-0") }

// start starts the broker where it does not run.
func (n *node) start(t *testing.T) {
	t.Helper()
	if !n.Running() {
		require.NoError(t, n.Start(t.Context()))
	}
}

// stop stops the broker cleanly.
func (n *node) stop(t *testing.T) {
	t.Helper()
	require.True(t, n.Running())
	require.NoError(t, n.Stop())
}

// forgetCleanStop makes the next start recover every partition from its first
// byte, as after a crash before anything was noted.
func (n *node) forgetCleanStop(t *testing.T) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(n.Data(), ".kafka_cleanshutdown")))
	require.NoError(t, os.Remove(filepath.Join(n.Data(), "recovery-point-offset-checkpoint")))
}

// put makes dir, a directory that the engine wrote, the partition of a topic
// that Kafka made: all but partition.metadata is replaced.
func (n *node) put(t *testing.T, topic, dir string) {
	t.Helper()
	to := n.partition(topic)
	entries, err := os.ReadDir(to)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != "partition.metadata" {
			require.NoError(t, os.Remove(filepath.Join(to, e.Name())))
		}
	}
	require.FileExists(t, filepath.Join(to, "partition.metadata"))
	copyInto(t, dir, to)
}

func copyInto(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(to, 0o755))
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		out, err := exec.Command("cp", "--preserve=timestamps", "--sparse=always", filepath.Join(from, e.Name()), filepath.Join(to, e.Name())).CombinedOutput()
		if err != nil && !exists(filepath.Join(from, e.Name())) {
			continue // a broker that runs has renamed or removed it meanwhile
		}
		require.NoError(t, err, "%s", out)
	}
}

// logStarts is Kafka's checkpoint of log start offsets: a map of topics, for
// partition 0.
func (n *node) logStartsFile() string { return filepath.Join(n.Data(), "log-start-offset-checkpoint") }

// setLogStarts notes log start offsets as Kafka's checkpoint has them.
func (n *node) setLogStarts(t *testing.T, starts map[string]int64) {
	t.Helper()
	text, err := os.ReadFile(n.logStartsFile())
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	var lines []string
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		topic, _, _ := strings.Cut(line, " ")
		if _, ours := starts[topic]; i >= 2 && !ours {
			lines = append(lines, line)
		}
	}
	for topic, start := range starts {
		if start > 0 {
			lines = append(lines, fmt.Sprintf("%s 0 %d", topic, start))
		}
	}
	content := fmt.Sprintf("0\n%d\n", len(lines))
	for _, line := range lines {
		content += line + "\n"
	}
	require.NoError(t, os.WriteFile(n.logStartsFile(), []byte(content), 0o644))
}
