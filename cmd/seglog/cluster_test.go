//go:build !windows

package main

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A broker that is not there is said with its address, and nothing hangs.
func TestNoBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	for _, args := range []string{"topics list", "topics create x", "groups list", "configs describe broker 1", "produce x", "consume x"} {
		p := start(t, append(strings.Fields(args), "-b", address)...)
		require.NoError(t, p.stdin.Close())
		require.Equal(t, exitFault, p.exit(), args)
		require.Contains(t, p.stderr.String(), "no broker answers at "+address, args)
	}
}
