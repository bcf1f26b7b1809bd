package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// node is the one broker of a run, on loopback, started and stopped as tests
// need it. Its topics stay.
type node struct {
	dir  string
	port int
	// leash is the standard input of a process that kills the broker when
	// this one ends without having done so.
	leash io.Closer
}

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

func (n *node) address() string { return "127.0.0.1:" + strconv.Itoa(n.port) }

func (n *node) pidFile() string { return filepath.Join(n.dir, "broker.pid") }

// partition is the directory of partition 0 of a topic.
func (n *node) partition(topic string) string { return filepath.Join(n.data(), topic+"-0") }

func (n *node) data() string { return filepath.Join(n.dir, "data") }

func (n *node) running() bool {
	_, err := os.Stat(n.pidFile())
	return err == nil
}

// start starts the broker where it does not run.
func (n *node) start(t *testing.T) {
	t.Helper()
	if n.running() {
		return
	}
	if n.port == 0 {
		n.port = freePorts(t)
	}
	if n.leash == nil {
		cmd := exec.Command("sh", "-c", `read _; if [ -e "$0" ]; then kill -9 "$(cat "$0")"; fi`, n.pidFile())
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		n.leash = in
		go cmd.Wait() //nolint:errcheck // it ends when we do
	}
	ctx, cancel := context.WithTimeout(t.Context(), toolTime)
	defer cancel()
	out, err := run.judge.command(ctx, append([]string{"start", n.dir, strconv.Itoa(n.port)}, nodeSettings...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// stop stops the broker cleanly.
func (n *node) stop(t *testing.T) {
	t.Helper()
	log, _ := os.ReadFile(filepath.Join(n.dir, "broker.log"))
	out, err := run.judge.command(t.Context(), "stop", n.dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.FileExists(t, filepath.Join(n.data(), ".kafka_cleanshutdown"), "not a clean stop:\n%.3000s", log)
}

// kill is kill -9.
func (n *node) kill(t *testing.T) {
	t.Helper()
	pid, err := n.pid()
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.NoError(t, os.Remove(n.pidFile()))
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, 10*time.Second, 10*time.Millisecond)
}

func (n *node) pid() (int, error) {
	text, err := os.ReadFile(n.pidFile())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// end ends a broker that is still there after the tests.
func (n *node) end() {
	if n.running() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if out, err := run.judge.command(ctx, "stop", n.dir).CombinedOutput(); err != nil {
			fmt.Printf("stopping the broker: %v\n%s", err, out)
		}
	}
	if n.leash != nil {
		n.leash.Close()
	}
}

// forgetCleanStop makes the next start recover every partition from its first
// byte, as after a crash before anything was noted.
func (n *node) forgetCleanStop(t *testing.T) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(n.data(), ".kafka_cleanshutdown")))
	require.NoError(t, os.Remove(filepath.Join(n.data(), "recovery-point-offset-checkpoint")))
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
func (n *node) logStartsFile() string { return filepath.Join(n.data(), "log-start-offset-checkpoint") }

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

// freePorts finds a port of which the next one is free, too.
func freePorts(t *testing.T) int {
	t.Helper()
	for range 50 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		port := first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1)))
		first.Close()
		if err == nil {
			second.Close()
			return port
		}
	}
	t.Fatal("no two free ports in a row")
	return 0
}
