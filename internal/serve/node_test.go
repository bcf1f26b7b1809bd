//go:build unix

package serve

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNode(t *testing.T) {
	program, err := Build(t.Context(), "../..", t.TempDir())
	require.NoError(t, err)
	log := filepath.Join(t.TempDir(), "log")
	n := &Node{Program: program, Data: filepath.Join(t.TempDir(), "data"), Log: log, Settings: []string{"num.partitions=3"}}
	t.Cleanup(n.Kill)
	start := func() {
		t.Helper()
		require.NoError(t, n.Start(t.Context()))
		nc, err := net.Dial("tcp", n.Addr())
		require.NoError(t, err)
		require.NoError(t, nc.Close())
	}

	require.NoError(t, n.Stop(), "it does not run")
	start()
	pid, addr := n.PID(), n.Addr()
	require.ErrorContains(t, n.Start(t.Context()), "running")
	n.Kill()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	require.False(t, n.Running())
	start()
	require.Equal(t, addr, n.Addr())
	require.NoError(t, n.Stop())
	require.False(t, n.Running())

	n.Listen, n.Settings = "", []string{"num.partitions=many"}
	err = n.Start(t.Context())
	require.ErrorIs(t, err, errEnded)
	require.ErrorContains(t, err, log)
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(said), "num.partitions")
}
