package kafka

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/apache"
)

// TestNode: package apache's broker goes on where it was when it was stopped or
// killed, and why it does not start is told.
func TestNode(t *testing.T) {
	needsKafka(t)
	n := &apache.Node{Kafka: run.judge.Kafka, Dir: filepath.Join(t.TempDir(), "node"), Heap: nodeHeap}
	defer n.Kill()
	require.NoError(t, n.Start(t.Context()))
	require.ErrorContains(t, n.Launch(t.Context()), "running")
	run.judge.tool(t, apache.Topics, "--bootstrap-server", n.Addr(), "--create", "--topic", "t")
	require.Eventually(t, func() bool { return exists(filepath.Join(n.Data(), "t-0")) }, time.Minute, 20*time.Millisecond)

	pid := n.PID()
	n.Kill()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	require.NoFileExists(t, filepath.Join(n.Data(), ".kafka_cleanshutdown"))
	require.NoError(t, n.Start(t.Context()))
	out, _ := run.judge.tool(t, apache.Topics, "--bootstrap-server", n.Addr(), "--list")
	require.Equal(t, "t\n", out)

	require.NoError(t, n.Stop())
	require.False(t, n.Running())
	_, err := net.Dial("tcp", n.Addr())
	require.Error(t, err)
	require.NoError(t, n.Stop(), "there is nothing to do")

	require.NoError(t, os.Remove(filepath.Join(n.Dir, "broker.log")))
	n.Settings = []string{"log.segment.bytes=nonsense"}
	require.ErrorContains(t, n.Start(t.Context()), "nonsense")
	require.False(t, n.Running())
}
