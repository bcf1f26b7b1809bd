//go:build !windows

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
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

// An address that a broker tells of and that nobody listens at is said, with what
// to look at.
func TestBrokerTellsWrongAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	wrong := l.Addr().String()
	require.NoError(t, l.Close())
	dir := filepath.Join(t.TempDir(), "d")
	b, err := broker.Open(dir, broker.Options{})
	require.NoError(t, err)
	_, err = b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t"})
	require.NoError(t, err)
	require.NoError(t, b.Close())
	server := start(t, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--set", "advertised.listeners=PLAINTEXT://"+wrong)
	fields := strings.Fields(server.line())
	for _, args := range []string{"topics create x", "topics describe t --offsets", "consume t", "consume t -G g", "produce t --timeout 1s"} {
		p := start(t, append(strings.Fields(args), "-b", fields[len(fields)-1])...)
		_, _ = p.stdin.Write([]byte("line\n")) // it may have ended
		require.NoError(t, p.stdin.Close())
		require.Equal(t, exitFault, p.exit(), args)
		require.Contains(t, p.stderr.String(), wrong, args)
		require.Contains(t, p.stderr.String(), "its advertised.listeners is wrong", args)
	}
	server.signal(os.Interrupt)
	server.exit()
}
