package kafka

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker/consumer"
)

// The rows of docs/KAFKA-DIFFERENCES.md about the consumer, each with Kafka's
// consumer and with ours.

// patience is for what comes in the end.
const patience = 90 * time.Second

// read polls until there are n records. Errors of it fail the test.
func read(t *testing.T, c consuming, n int) (list []string) {
	t.Helper()
	for deadline := time.Now().Add(patience); len(list) < n; {
		require.True(t, time.Now().Before(deadline), "only %v", list)
		got, err := c.poll(100 * time.Millisecond)
		require.NoError(t, err)
		list = append(list, got...)
	}
	return list
}

// until polls until it is so; there are no records meanwhile.
func until(t *testing.T, c consuming, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); {
		require.True(t, time.Now().Before(deadline))
		got, err := c.poll(100 * time.Millisecond)
		require.NoError(t, err)
		require.Empty(t, got)
	}
}

// polled polls on a goroutine until stop, which returns what was read.
func polled(t *testing.T, c consuming) (stop func() []string) {
	ctx, cancel := context.WithCancel(t.Context())
	var list []string
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil && failed == nil {
			var got []string
			got, failed = c.poll(100 * time.Millisecond)
			list = append(list, got...)
		}
	})
	end := sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
	t.Cleanup(end)
	return func() []string {
		end()
		require.NoError(t, failed)
		return list
	}
}

// commits counts what was committed to a group's partition, each time, by the
// records in the coordinator's topic.
func (s *side) commits(t *testing.T, group, partition string) (offsets []int64) {
	t.Helper()
	ends, err := s.admin.ListEndOffsets(t.Context(), "__consumer_offsets")
	require.NoError(t, err)
	from := make(map[int32]kgo.Offset)
	left := make(map[int32]int64)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	for p := range left {
		from[p] = kgo.NewOffset().AtStart()
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(s.addr), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"__consumer_offsets": from}), kgo.KeepControlRecords())
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tp := parsed(partition)
	for len(left) > 0 {
		fetches := c.PollFetches(ctx)
		require.NoError(t, ctx.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			var key kmsg.OffsetCommitKey
			var value kmsg.OffsetCommitValue
			if key.ReadFrom(r.Key) == nil && key.Version <= 1 && key.Group == group && key.Topic == tp.Topic && key.Partition == tp.Partition {
				require.NoError(t, value.ReadFrom(r.Value))
				offsets = append(offsets, value.Offset)
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return offsets
}

// TestConsumerCommitsAgain: what was committed is committed again each interval
// by Kafka's consumer, and by ours if there is no group that keeps it.
func TestConsumerCommitsAgain(t *testing.T) {
	sides(t, func(t *testing.T, s *side) {
		s.create(t, "again", 1)
		s.produce(t, "again-0", "a", "b")
		for group, begin := range map[string]func(consuming){
			"again-member":  func(c consuming) { c.subscribe("again") },
			"again-by-hand": func(c consuming) { c.assign("again-0") },
		} {
			c := s.consumer(t, consumes{group: group, reset: consumer.Earliest, autoCommit: 200 * time.Millisecond})
			begin(c)
			require.Equal(t, []string{"again-0@0=a", "again-0@1=b"}, read(t, c, 2))
			once := func() bool { return s.committed(t, group, "again-0") == 2 }
			until(t, c, once)
			twos := func() int {
				all := s.commits(t, group, "again-0")
				return len(all) - max(0, slices.Index(all, 2))
			}
			if !s.theirs && group == "again-member" {
				began := time.Now()
				until(t, c, func() bool { return time.Since(began) > 2*time.Second })
				require.Equal(t, 1, twos())
				continue
			}
			until(t, c, func() bool { return twos() >= 4 })
		}
	})
}

// TestConsumerReadsDuringARebalance: what a cooperative member of Kafka's reads
// after it has joined is read again by who gets the partition, and not if the
// member is ours.
func TestConsumerReadsDuringARebalance(t *testing.T) {
	sides(t, func(t *testing.T, s *side) {
		s.create(t, "held", 6)
		member := func() consuming {
			c := s.consumer(t, consumes{group: "held", reset: consumer.Earliest, cooperative: true, autoCommit: time.Hour})
			c.subscribe("held")
			return c
		}
		// share polls until all have as many, and returns what the last one read.
		share := func(n int, all ...consuming) (last []string) {
			for deadline := time.Now().Add(patience); ; {
				require.True(t, time.Now().Before(deadline))
				var stops []func() []string
				for _, c := range all {
					stops = append(stops, polled(t, c))
				}
				time.Sleep(time.Second)
				var got []string
				for _, stop := range stops {
					got = stop()
				}
				last = append(last, got...)
				if !slices.ContainsFunc(all, func(c consuming) bool { return len(c.assignment()) != n }) {
					return last
				}
			}
		}
		a, idle := member(), member()
		share(3, a, idle)
		had := a.assignment()
		for _, p := range had {
			s.produce(t, p, "before")
		}
		read(t, a, 3)
		third := member()
		thirds := polled(t, third)
		// Who joins commits what it has read. The rebalance waits for idle.
		until(t, a, func() bool { return s.committed(t, "held", had[0]) == 1 })
		for _, p := range had {
			s.produce(t, p, "meanwhile")
		}
		read(t, a, 3)
		require.Empty(t, thirds())
		list := share(2, a, idle, third)
		now := a.assignment()
		moved := had[slices.IndexFunc(had, func(p string) bool { return !slices.Contains(now, p) })]
		require.Contains(t, third.assignment(), moved)
		s.produce(t, moved, "after")
		for deadline := time.Now().Add(patience); !slices.Contains(list, moved+"@2=after"); {
			require.True(t, time.Now().Before(deadline))
			more, err := third.poll(100 * time.Millisecond)
			require.NoError(t, err)
			list = append(list, more...)
		}
		list = slices.DeleteFunc(list, func(r string) bool { return !strings.HasPrefix(r, moved+"@") })
		if s.theirs {
			require.Equal(t, []string{moved + "@1=meanwhile", moved + "@2=after"}, list)
		} else {
			require.Equal(t, []string{moved + "@2=after"}, list)
		}
	})
}

// TestConsumerOfARecreatedTopic: Kafka's consumer goes on at its position in a
// topic that was made anew, or resets it if there is no such record; ours begins.
func TestConsumerOfARecreatedTopic(t *testing.T) {
	sides(t, func(t *testing.T, s *side) {
		for topic, begin := range map[string]func(c consuming, topic string){
			"anew-member":  func(c consuming, topic string) { c.subscribe(topic) },
			"anew-by-hand": func(c consuming, topic string) { c.assign(topic + "-0") },
		} {
			p := topic + "-0"
			s.create(t, topic, 1)
			s.produce(t, p, "a", "b", "c")
			c := s.consumer(t, consumes{group: topic, reset: consumer.Earliest})
			begin(c, topic)
			require.Len(t, read(t, c, 3), 3)
			s.remove(t, topic)
			s.create(t, topic, 1)
			s.produce(t, p, "d", "e", "f", "g")
			if s.theirs {
				require.Equal(t, []string{p + "@3=g"}, read(t, c, 1))
			} else {
				require.Equal(t, []string{p + "@0=d", p + "@1=e", p + "@2=f", p + "@3=g"}, read(t, c, 4))
			}
			s.remove(t, topic)
			s.create(t, topic, 1)
			s.produce(t, p, "h")
			require.Equal(t, []string{p + "@0=h"}, read(t, c, 1), "4 is out of range")
		}
	})
}

// TestConsumerOfAGoneTopic: a topic that is gone fails Kafka's commitSync of all
// positions, though the others are committed; of ours it is left out.
func TestConsumerOfAGoneTopic(t *testing.T) {
	sides(t, func(t *testing.T, s *side) {
		for _, topic := range []string{"stays", "goes"} {
			s.create(t, topic, 1)
			s.produce(t, topic+"-0", "a")
		}
		c := s.consumer(t, consumes{group: "gone", reset: consumer.Earliest, timeout: 3 * time.Second})
		c.assign("stays-0", "goes-0")
		read(t, c, 2)
		s.remove(t, "goes")
		began := time.Now()
		err := c.commit()
		if s.theirs {
			require.ErrorContains(t, err, "TimeoutException")
			require.GreaterOrEqual(t, time.Since(began), 3*time.Second)
		} else {
			require.NoError(t, err)
		}
		require.EqualValues(t, 1, s.committed(t, "gone", "stays-0"))
		require.Empty(t, s.commits(t, "gone", "goes-0"))
	})
}

// TestConsumerFindsWhatComes: topics that match and partitions that were added
// are found out by Kafka's consumer when its metadata is so old, by ours at once.
func TestConsumerFindsWhatComes(t *testing.T) {
	sides(t, func(t *testing.T, s *side) {
		s.create(t, "coming-1", 1)
		find := func(group string, age time.Duration) consuming {
			c := s.consumer(t, consumes{group: group, reset: consumer.Earliest, metadataAge: age})
			c.match("coming-.*")
			return c
		}
		has := func(c consuming, want ...string) func() bool {
			return func() bool { return slices.Equal(want, c.assignment()) }
		}
		c, late := find("coming", time.Second), consuming(nil)
		until(t, c, has(c, "coming-1-0"))
		if s.theirs {
			late = find("coming-late", time.Hour)
			until(t, late, has(late, "coming-1-0"))
		}
		s.create(t, "coming-2", 1)
		_, err := s.admin.CreatePartitions(t.Context(), 1, "coming-1")
		require.NoError(t, err)
		until(t, c, has(c, "coming-1-0", "coming-1-1", "coming-2-0"))
		if s.theirs {
			began := time.Now()
			until(t, late, func() bool { return time.Since(began) > 2*time.Second })
			require.Equal(t, []string{"coming-1-0"}, late.assignment())
		}
	})
}

// TestConsumerWithoutReset: Kafka's poll fails each time, and returns nothing
// of partitions that have a position; ours fails, too, and returns them.
func TestConsumerWithoutReset(t *testing.T) {
	sides(t, func(t *testing.T, s *side) {
		s.create(t, "none", 2)
		s.produce(t, "none-0", "a")
		s.produce(t, "none-1", "b")
		c := s.consumer(t, consumes{group: "none", reset: consumer.None})
		var got []string
		c.assign("none-0", "none-1")
		fails := func() bool {
			list, err := c.poll(200 * time.Millisecond)
			if err == nil {
				got = append(got, list...)
				return false
			}
			require.Empty(t, list)
			if s.theirs {
				require.ErrorContains(t, err, "NoOffsetForPartitionException")
			} else {
				require.ErrorIs(t, err, consumer.ErrNoOffset)
			}
			return true
		}
		c.seek("none-0", 1)
		for deadline := time.Now().Add(patience); !fails(); { // until it is known that nothing was committed
			require.True(t, time.Now().Before(deadline))
		}
		c.seek("none-0", 0)
		failed := 0
		for range 10 {
			if fails() {
				failed++
			}
		}
		if s.theirs {
			require.Equal(t, 10, failed)
			require.Empty(t, got)
			c.seek("none-1", 0)
			require.ElementsMatch(t, []string{"none-0@0=a", "none-1@0=b"}, read(t, c, 2))
			return
		}
		require.Equal(t, []string{"none-0@0=a"}, got)
		require.Equal(t, 9, failed, "every 100 ms, which poll waits for")
	})
}
