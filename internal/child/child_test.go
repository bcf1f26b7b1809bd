//go:build unix

package child

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started is a shell that has come to where its script echoes, and goes on.
func started(t *testing.T, script string) *Process {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout = w
	p, err := Start(cmd)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	require.NoError(t, w.Close())
	_, err = io.ReadFull(r, make([]byte, 1))
	require.NoError(t, err)
	return p
}

func gone(t *testing.T, p *Process) {
	t.Helper()
	require.ErrorIs(t, syscall.Kill(p.PID(), 0), syscall.ESRCH)
}

func TestStop(t *testing.T) {
	p := started(t, "trap 'exit 0' TERM; echo; while :; do sleep 0.01; done")
	require.NoError(t, p.Stop(time.Minute))
	gone(t, p)
	require.NoError(t, p.Stop(time.Minute), "it has ended")
}

func TestStopThatEndsBadly(t *testing.T) {
	p := started(t, "trap 'exit 3' TERM; echo; while :; do sleep 0.01; done")
	require.ErrorContains(t, p.Stop(time.Minute), "exit status 3")
	gone(t, p)
}

func TestStopOfOneThatWillNot(t *testing.T) {
	p := started(t, "trap '' TERM; echo; while :; do sleep 0.01; done")
	require.ErrorContains(t, p.Stop(10*time.Millisecond), "killed")
	gone(t, p)
}

func TestKill(t *testing.T) {
	p := started(t, "echo; exec sleep 60")
	p.Kill()
	gone(t, p)
	p.Kill()
}

// TestLeash: it does not outlive what started it, whose pipe ends with it.
func TestLeash(t *testing.T) {
	p := started(t, "echo; exec sleep 60")
	require.NoError(t, p.leash.Close())
	select {
	case <-p.Ended():
	case <-time.After(30 * time.Second):
		t.Fatal("the process is there")
	}
}

func TestNoSuchProgram(t *testing.T) {
	_, err := Start(exec.Command("/there is none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
