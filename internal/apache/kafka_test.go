package apache

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMissing: that there is no Java is told. The rest of the package is tested
// where it is used, in the modules of interop.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Install(t.Context())
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "java")
}

// TestPorts: both are free, and not those that a client may be given.
func TestPorts(t *testing.T) {
	port, err := freePorts()
	require.NoError(t, err)
	require.True(t, free(port) && free(port+1))
	require.Less(t, port+1, 32768)
}
