//go:build !windows

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestGroupsOfABroker: groups are listed and described with their lag, and reset
// while they have no members.
func TestGroupsOfABroker(t *testing.T) {
	server := start(t, "serve", "--data", filepath.Join(t.TempDir(), "d"), "--listen", "127.0.0.1:0",
		"--set", "offsets.topic.num.partitions=2", "--set", "group.initial.rebalance.delay.ms=0")
	fields := strings.Fields(server.line())
	addr := fields[len(fields)-1]
	produce, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("orders"))
	require.NoError(t, err)
	defer produce.Close()
	send := func(n int) {
		for range n {
			require.NoError(t, produce.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr())
		}
	}
	send(5)
	require.Equal(t, "GROUP  STATE  TYPE\n", seglog(t, "groups", "list", "--broker", addr))
	consume, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.ClientID("app"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.SessionTimeout(20*time.Second))
	require.NoError(t, err)
	defer consume.Close()
	for got := 0; got < 5; {
		fetches := consume.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		got += fetches.NumRecords()
	}
	require.NoError(t, consume.CommitUncommittedOffsets(t.Context()))
	send(2)

	require.Equal(t, "GROUP    STATE   TYPE\nbilling  Stable  consumer\n", seglog(t, "groups", "list", "--broker", addr))
	require.Equal(t, "group billing: Stable, 1 member\nTOPIC   PARTITION  COMMITTED  END  LAG  MEMBER\norders  0          5          7    2    app /127.0.0.1\n",
		seglog(t, "groups", "describe", "billing", "--broker", addr))
	fails := func(want string, args ...string) {
		t.Helper()
		out, err := exec.Command("seglog", append([]string{"groups", "--broker", addr}, args...)...).CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", out)
		require.Equal(t, exitUsage, exit.ExitCode())
		require.Contains(t, string(out), want)
	}
	fails("has 1 member, which would commit where they are", "reset", "billing", "--to", "earliest")
	consume.Close()
	fails(`there is no group "nobody"`, "describe", "nobody")
	fails("orders-0 holds [0, 7)", "reset", "billing", "--to", "8")
	fails("want earliest, latest, an offset or a time", "reset", "billing", "--to", "soon")
	fails("has committed no offsets of these topics", "reset", "billing", "--to", "latest", "--topic", "other")

	table := "TOPIC   PARTITION  FROM  TO\norders  0          5     "
	require.Equal(t, table+"0\nwould reset 1 partition\n", seglog(t, "groups", "reset", "billing", "--to", "earliest", "--dry-run", "--broker", addr))
	require.Equal(t, table+"0\nwould reset 1 partition\n", seglog(t, "groups", "reset", "billing", "--to", "1970-01-02", "--dry-run", "--broker", addr))
	require.Equal(t, table+"7\nwould reset 1 partition\n", seglog(t, "groups", "reset", "billing", "--to", "now", "--dry-run", "--broker", addr))
	require.Equal(t, table+"3\nreset 1 partition\n", seglog(t, "groups", "reset", "billing", "--to", "3", "--topic", "orders", "--broker", addr))
	require.Equal(t, "group billing: Empty, 0 members\nTOPIC   PARTITION  COMMITTED  END  LAG  MEMBER\norders  0          3          7    4    -\n",
		seglog(t, "groups", "describe", "billing", "--broker", addr))
	server.signal(os.Interrupt)
	server.exit()
}
