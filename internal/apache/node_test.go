//go:build unix

package apache

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// launched is a node whose java is a shell script, which does nothing for a minute.
func launched(t *testing.T) *Node {
	t.Helper()
	bin := t.TempDir()
	java := "#!/bin/sh\ncase \"$*\" in *StorageTool*) ;; *) exec sleep 60 ;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "java"), []byte(java), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	n := &Node{Dir: t.TempDir(), Settings: []string{"num.partitions=7"}}
	require.NoError(t, n.Launch(t.Context()))
	t.Cleanup(n.Kill)
	return n
}

func TestKill(t *testing.T) {
	n := launched(t)
	properties, err := os.ReadFile(filepath.Join(n.Dir, "server.properties"))
	require.NoError(t, err)
	require.Contains(t, string(properties), "PLAINTEXT://"+n.Addr()+",")
	require.Contains(t, string(properties), "\nnum.partitions=7\n")
	require.ErrorContains(t, n.Launch(t.Context()), "running")
	pid, port := n.PID(), n.Port
	n.Kill()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	require.False(t, n.Running())
	n.Kill() // nothing
	require.NoError(t, n.Stop())
	require.NoError(t, n.Launch(t.Context()), "again")
	require.Equal(t, port, n.Port)
}

// TestNotClean: a broker that leaves no note of a clean stop was not stopped cleanly.
func TestNotClean(t *testing.T) {
	n := launched(t)
	require.ErrorContains(t, n.Stop(), ".kafka_cleanshutdown")
	require.False(t, n.Running())
}
