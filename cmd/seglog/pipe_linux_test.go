package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWidenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	widenPipe(w)
	size, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
	require.NoError(t, err)
	require.Equal(t, pipeBytes, size)
	widenPipe(&bytes.Buffer{}) // and what is no pipe is let alone
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	widenPipe(f)
	require.NoError(t, f.Close())
	widenPipe(f)
}
