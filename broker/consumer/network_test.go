package consumer

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/kafka"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

// served listens on a port of loopback until the test ends.
func served(t *testing.T, b *broker.Broker) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- kafka.Serve(ctx, l, b) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return l.Addr().String()
}

// partitions waits until the group's members have so many partitions, which are
// all there are.
func partitions(t *testing.T, b *broker.Broker, total int, each ...int) {
	t.Helper()
	_, err := b.OffsetsTopic(t.Context())
	require.NoError(t, err)
	eventually(t, func() (ok bool, state string) {
		d := describe(t, b, "g")
		owners := make(map[TopicPartition]string)
		var counts []int
		for _, m := range d.Members {
			list, err := assign.ParseAssignment(m.Assignment)
			require.NoError(t, err)
			counts = append(counts, len(list))
			for _, tp := range list {
				owners[tp] = m.MemberID
			}
		}
		slices.Sort(counts)
		return d.State == group.Stable && len(owners) == total && slices.Equal(counts, each), fmt.Sprint(d.State, counts)
	}, fmt.Sprint("partitions of each member: ", each))
}

// eventually waits for what has to happen.
func eventually(t *testing.T, look func() (ok bool, state string), want string) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		ok, state := look()
		if ok {
			return
		}
		require.True(t, time.Now().Before(until), "want %s, it is %s", want, state)
	}
}

// TestWithClientsOfTheNetwork: two embedded members and a client of another make
// are one group: they share the partitions, each leads when it is its turn, and
// each takes over from the others what they have committed.
func TestWithClientsOfTheNetwork(t *testing.T) {
	for name, balancer := range map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(),
		"cooperative-sticky": kgo.CooperativeStickyBalancer()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, t.TempDir())
			addr := served(t, b)
			create(t, b, "t", 6)
			var mu sync.Mutex
			times := make(map[string]int)
			note := func(value string) {
				mu.Lock()
				defer mu.Unlock()
				times[value]++
			}
			o := Options{Assignors: []assign.Assignor{assign.Assignors()[name]}, HeartbeatInterval: 50 * time.Millisecond, AutoCommit: 50 * time.Millisecond}
			embedded := func() *Consumer {
				c := subscribed(t, b, "g", o, "t")
				polling(t, c, func(r Record) { note(string(r.Value)) })
				return c
			}
			written := 0
			write := func() {
				for i := range 60 {
					produce(t, b, "t", int32(i%6), fmt.Sprint(written))
					written++
				}
			}
			read := func() {
				t.Helper()
				eventually(t, func() (bool, string) {
					mu.Lock()
					defer mu.Unlock()
					return len(times) == written, fmt.Sprint(len(times))
				}, fmt.Sprint("records read: ", written))
			}
			remote := func() (stop func()) {
				c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t"), kgo.Balancers(balancer),
					kgo.HeartbeatInterval(50*time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AutoCommitInterval(100*time.Millisecond))
				require.NoError(t, err)
				var running sync.WaitGroup
				running.Go(func() {
					for {
						f := c.PollFetches(context.Background())
						if f.IsClientClosed() {
							return
						}
						f.EachRecord(func(r *kgo.Record) { note(string(r.Value)) })
					}
				})
				stop = sync.OnceFunc(func() {
					_ = c.CommitUncommittedOffsets(context.Background())
					c.Close()
					running.Wait()
				})
				t.Cleanup(stop)
				return stop
			}
			write()
			one := embedded()
			partitions(t, b, 6, 6)
			read()
			leave := remote()
			partitions(t, b, 6, 3, 3)
			two := embedded()
			partitions(t, b, 6, 2, 2, 2)
			write()
			read()
			require.NoError(t, one.Close(t.Context())) // the leader
			partitions(t, b, 6, 3, 3)
			write()
			read()
			leave()
			partitions(t, b, 6, 6)
			write()
			read()
			leave = remote()
			partitions(t, b, 6, 3, 3)
			require.NoError(t, two.Close(t.Context()))
			partitions(t, b, 6, 6)
			write()
			read()
			leave()
			total := int64(0)
			for i := range 6 {
				total += committed(t, b, "g", fmt.Sprintf("t-%d", i))
			}
			require.EqualValues(t, written, total, "all is committed")
		})
	}
}

// TestExpiresUnderClients: an embedded member whose end nobody was told of is
// thrown out after its session, and a client of the network takes over.
func TestExpiresUnderClients(t *testing.T) {
	b, err := broker.Open(t.TempDir(), broker.Options{Config: map[string]string{"group.initial.rebalance.delay.ms": "0",
		"group.min.session.timeout.ms": "100", "offsets.topic.num.partitions": "1"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	addr := served(t, b)
	create(t, b, "t", 4)
	o := Options{Assignors: cooperative, SessionTimeout: 2 * time.Second, HeartbeatInterval: 50 * time.Millisecond}
	dead := subscribed(t, b, "g", o, "t")
	stop := polling(t, dead, nil)
	partitions(t, b, 4, 4)
	c, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("t"), kgo.HeartbeatInterval(50*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	partitions(t, b, 4, 2, 2)
	dead.kill()
	dead.nudge()
	stop()
	partitions(t, b, 4, 4)
}
