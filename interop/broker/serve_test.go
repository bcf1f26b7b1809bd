package broker

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seglog/seglog/internal/serve"
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

// started is a "seglog serve" of the settings on a fresh directory. It has to end
// well, with the test.
func started(t *testing.T, settings ...string) *serve.Node {
	t.Helper()
	program, err := serve.Build(t.Context(), root(t), t.TempDir())
	require.NoError(t, err)
	n := &serve.Node{Program: program, Data: filepath.Join(t.TempDir(), "data"), Settings: settings}
	require.NoError(t, n.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, n.Stop()) })
	return n
}
