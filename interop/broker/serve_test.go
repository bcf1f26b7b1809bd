package broker

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the directory of the module of the broker.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	return dir
}

// build builds a program of the module in dir and returns where it is.
func build(t *testing.T, dir, pkg string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", "build", "-o", to, pkg)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return to
}

// serve starts "seglog serve" on a fresh directory and returns its address. It
// has to end well, with the test.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(build(t, root(t), "./cmd/seglog"),
		append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait(), "it ends with 0")
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	fields := strings.Fields(line)
	return fields[len(fields)-1]
}
