//go:build !windows

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
)

// What goes in comes out, byte by byte, with each codec and to a partition.
func TestProduceAndConsume(t *testing.T) {
	t.Parallel()
	s := startBroker(t)
	random := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for i := range 100_000 {
		text = fmt.Appendf(text, "%d %s\n", i, bytes.Repeat([]byte{byte('a' + random.IntN(26))}, random.IntN(100)))
	}
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		produce := exec.Command("seglog", "produce", codec, "--create", "-z", codec, "-b", s.address)
		produce.Stdin = bytes.NewReader(text)
		out, err := produce.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "100,000 records acknowledged")
		require.True(t, bytes.Equal(text, []byte(s.consume(codec, "-e"))), "with %s it is not what it was", codec)
	}
}

// A signal ends it when what it has read is acknowledged; a line that has not
// ended is no record.
func TestProduceStopped(t *testing.T) {
	t.Parallel()
	s := startBroker(t, broker.TopicSpec{Name: "t"})
	p := start(t, "produce", "t", "--linger", "0s", "-b", s.address)
	p.write("one\ntwo\nhalf a li")
	require.Eventually(t, func() bool { return s.log("t").End() == 2 }, 2*time.Minute, time.Millisecond)
	p.signal(os.Interrupt)
	require.Equal(t, 130, p.exit())
	require.Contains(t, p.stderr.String(), "2 records acknowledged")
	require.Equal(t, "one\ntwo\n", s.consume("t", "-e"))
}

// Where the broker is gone what was not acknowledged is told, and where from on.
func TestProduceBrokerGone(t *testing.T) {
	t.Parallel()
	s := startBroker(t, broker.TopicSpec{Name: "t"})
	p := start(t, "produce", "t", "--linger", "0s", "--timeout", "1s", "-b", s.address)
	p.write("one\ntwo\n")
	require.Eventually(t, func() bool { return s.log("t").End() == 2 }, 2*time.Minute, time.Millisecond)
	s.stop()
	p.write("three\nfour\n")
	require.Equal(t, exitFault, p.exit())
	require.Contains(t, p.stderr.String(), "2 records acknowledged, 2 records not, the first of them line 3: ")
}

// A broker that takes and never answers: no more is read than fits the buffers,
// and it is given up.
func TestProduceStalled(t *testing.T) {
	t.Parallel()
	s := startBroker(t, broker.TopicSpec{Name: "t"})
	p := start(t, "produce", "t", "--timeout", "1s", "-b", s.address)
	p.write("one\n")
	require.Eventually(t, func() bool { return s.log("t").End() == 1 }, 2*time.Minute, time.Millisecond)
	s.mute.Store(true)
	line := append(bytes.Repeat([]byte("x"), 999), '\n')
	taken := 0
	for {
		n, err := p.stdin.Write(line)
		if taken += n; err != nil {
			break // it has ended
		}
	}
	require.Equal(t, exitFault, p.exit())
	require.Contains(t, p.stderr.String(), "1 record acknowledged, ")
	require.Contains(t, p.stderr.String(), "the first of them line 2: nothing was acknowledged for 1s")
	const buffered, ahead, pipe = 32 << 20, (chunkCount + 1) * chunkBytes, 1 << 20
	require.Less(t, taken, buffered+ahead+pipe)
}
