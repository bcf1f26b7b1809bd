package broker

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"
)

// TestIdleConnections: ten thousand connections that have asked once and wait cost
// the broker some KiB each, and one more is served.
func TestIdleConnections(t *testing.T) {
	count := 10_000
	var files unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &files))
	if most := int(files.Max) - 1000; most < count {
		t.Logf("ONLY %d CONNECTIONS: a process may have %d files", most, files.Max)
		count = most
	}
	k := started(t)
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Addr()), kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("t"))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, client.ProduceSync(ctx, kgo.StringRecord("before")).FirstErr())
	before := anonymous(t, k.PID())

	versions := kmsg.NewApiVersionsRequest()
	versions.Version = 3
	versions.ClientSoftwareName, versions.ClientSoftwareVersion = "idle", "1"
	ask := kmsg.NewRequestFormatter().AppendRequest(nil, &versions, 1)
	conns := make([]net.Conn, count)
	var group sync.WaitGroup
	for from := range 8 {
		group.Go(func() {
			for i := from; i < count; i += 8 {
				c, err := asked(k.Addr(), ask)
				if conns[i] = c; err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
			}
		})
	}
	group.Wait()
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	require.False(t, t.Failed())
	each := (anonymous(t, k.PID()) - before) / int64(count)
	t.Logf("%d connections, %d bytes each", count, each)
	require.Less(t, each, int64(32<<10))

	require.NoError(t, client.ProduceSync(ctx, kgo.StringRecord("after")).FirstErr())
	for _, c := range []net.Conn{conns[0], conns[count-1]} { // they are alive
		_, err := c.Write(ask)
		require.NoError(t, err)
		require.NoError(t, answered(c))
	}
}

// asked connects, asks and takes the answer.
func asked(addr string, ask []byte) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", addr, 30*time.Second)
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(ask); err != nil {
		return c, err
	}
	return c, answered(c)
}

func answered(c net.Conn) error {
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(size[:])))
	return err
}

// anonymous is what a process has of memory that is no file's, in bytes.
func anonymous(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
			kib, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			require.NoError(t, err)
			return kib << 10
		}
	}
	t.Fatal("no RssAnon")
	return 0
}
