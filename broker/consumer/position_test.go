package consumer

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// TestSeekIntoABatch: records of a batch before the position are not returned,
// whatever the codec.
func TestSeekIntoABatch(t *testing.T) {
	for _, codec := range []string{"uncompressed", "gzip", "snappy", "lz4", "zstd"} {
		b := open(t, t.TempDir())
		create(t, b, "t", 1)
		require.NoError(t, b.AlterTopic("t", []broker.Alteration{{Name: "compression.type", Value: codec}}, false))
		p, err := b.Partition("t", 0)
		require.NoError(t, err)
		for _, first := range []int{0, 10} {
			var build record.Builder
			build.Reset(record.BatchOptions{})
			for _, v := range numbers(first, 10) {
				require.NoError(t, build.Add(&record.Record{Key: []byte("k" + v), Value: []byte(v), Headers: []record.Header{{Key: "h", Value: []byte("h" + v)}}}))
			}
			raw, err := build.Build()
			require.NoError(t, err)
			_, err = p.Append(t.Context(), raw)
			require.NoError(t, err)
		}
		c := made(t, b, "", Options{Reset: Earliest})
		require.NoError(t, c.Assign(tp("t-0")))
		require.Equal(t, numbers(0, 20), polled(t, c, 20), codec)
		for _, offset := range []int{7, 13, 10, 19} {
			require.NoError(t, c.Seek(tp("t-0"), int64(offset)))
			at, err := c.Position(t.Context(), tp("t-0"))
			require.NoError(t, err)
			require.EqualValues(t, offset, at)
			records, err := c.Poll(within(t, time.Minute))
			require.NoError(t, err)
			require.Equal(t, numbers(offset, 20-offset), valuesOf(records), codec)
			for _, r := range records {
				require.Equal(t, "k"+string(r.Value), string(r.Key))
				require.Equal(t, "h"+string(r.Value), string(r.Headers[0].Value), "headers are the record's own")
			}
		}
	}
}

// TestRecordsAreTheCallers: what Poll has returned stays what it was, also when
// its files are gone and other records were read.
func TestRecordsAreTheCallers(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		for i := range 50 {
			produce(t, b, "t", 0, numbers(i*10, 10)...)
		}
		c := made(t, b, "", Options{Reset: Earliest, MaxPollRecords: 17, MaxPartitionBytes: 300})
		require.NoError(t, c.Assign(tp("t-0")))
		var kept []Record
		for len(kept) < 500 {
			records, err := c.Poll(within(t, time.Minute))
			require.NoError(t, err)
			kept = append(kept, records...)
		}
		require.NoError(t, b.DeleteTopic("t"))
		nothing(t, c, 5*time.Minute)
		require.Equal(t, numbers(0, 500), valuesOf(kept))
	})
}

// TestReset: where a partition without a committed offset begins.
func TestReset(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "a", "b")
		for reset, want := range map[Reset]int64{Earliest: 0, Latest: 2} {
			c := made(t, b, "", Options{Reset: reset})
			require.NoError(t, c.Assign(tp("t-0")))
			at, err := c.Position(t.Context(), tp("t-0"))
			require.NoError(t, err)
			require.Equal(t, want, at)
		}
		c := made(t, b, "g", Options{Reset: None})
		require.NoError(t, c.Assign(tps("t-0")...))
		_, err := c.Position(t.Context(), tp("t-0"))
		require.ErrorIs(t, err, ErrNoOffset)
		for range 3 {
			_, err = c.Poll(within(t, time.Minute))
			require.ErrorIs(t, err, ErrNoOffset)
		}
		require.NoError(t, c.Seek(tp("t-0"), 1))
		require.Equal(t, []string{"b"}, polled(t, c, 1))
		require.NoError(t, c.CommitSync(t.Context(), nil))

		create(t, b, "u", 1)
		both := made(t, b, "", Options{Reset: None})
		require.NoError(t, both.Assign(tps("u-0", "t-0")...))
		require.NoError(t, both.SeekToBeginning(tp("t-0")))
		_, err = both.Poll(within(t, time.Minute))
		require.ErrorIs(t, err, ErrNoOffset)
		require.Equal(t, []string{"a", "b"}, polled(t, both, 2), "the other one is read on")

		again := made(t, b, "g", Options{Reset: None})
		require.NoError(t, again.Assign(tps("t-0")...))
		at, err := again.Position(t.Context(), tp("t-0"))
		require.NoError(t, err)
		require.EqualValues(t, 2, at, "the committed offset")
	})
}

// TestOutOfRange: a position of no record is reset, or told of once for each Poll
// without keeping other partitions from being read.
func TestOutOfRange(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		produce(t, b, "t", 0, "a", "b", "c")
		p, err := b.Partition("t", 0)
		require.NoError(t, err)
		l, err := p.Log()
		require.NoError(t, err)
		require.NoError(t, l.DropBefore(3))
		produce(t, b, "t", 0, "d")
		for reset, want := range map[Reset]int64{Earliest: 3, Latest: 4} {
			for _, offset := range []int64{0, 77} {
				c := made(t, b, "", Options{Reset: reset})
				require.NoError(t, c.Assign(tp("t-0")))
				require.NoError(t, c.Seek(tp("t-0"), offset))
				_, _ = c.Poll(within(t, time.Minute))
				require.NoError(t, c.Pause(tp("t-0")))
				at, err := c.Position(t.Context(), tp("t-0"))
				require.NoError(t, err)
				if reset == Earliest {
					want = 4 // "d" was read
				}
				require.Equal(t, want, at)
			}
		}
		c := made(t, b, "", Options{Reset: None})
		require.NoError(t, c.Assign(tps("t-0", "t-1")...))
		require.NoError(t, c.Seek(tp("t-0"), 77))
		require.NoError(t, c.Seek(tp("t-1"), 0))
		began := time.Now()
		for range 3 {
			_, err := c.Poll(within(t, time.Minute))
			require.Error(t, err)
		}
		require.Equal(t, 2*backoff, time.Since(began), "who polls again at once is held up")
		failed := 0
		var got []string
		for range 20 {
			produce(t, b, "t", 1, "x")
			records, err := c.Poll(within(t, time.Minute))
			if err != nil {
				require.ErrorIs(t, err, kerr.OffsetOutOfRange)
				require.ErrorContains(t, err, "t-0")
				failed++
			}
			time.Sleep(backoff)
			got = append(got, valuesOf(records)...)
		}
		require.Greater(t, failed, 3)
		require.Greater(t, len(got), 10)
		require.NoError(t, c.SeekToBeginning(tp("t-0")))
		got = append(got, polled(t, c, 21-len(got))...)
		require.Contains(t, got, "d")
	})
}

// TestSeekToEnds: the ends are those of the moment of the call.
func TestSeekToEnds(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		produce(t, b, "t", 0, "a", "b")
		c := made(t, b, "", Options{Reset: None})
		require.NoError(t, c.Assign(tps("t-0", "t-1")...))
		require.NoError(t, c.SeekToEnd())
		produce(t, b, "t", 0, "c")
		produce(t, b, "t", 1, "d")
		require.ElementsMatch(t, []string{"c", "d"}, polled(t, c, 2))
		require.NoError(t, c.SeekToBeginning(tp("t-0")))
		require.Equal(t, []string{"a", "b", "c"}, polled(t, c, 3))
		require.ErrorIs(t, c.SeekToEnd(tp("u-0")), ErrNotAssigned)
		require.ErrorIs(t, c.Pause(tp("t-0"), tp("u-0")), ErrNotAssigned)
		require.Empty(t, c.Paused(), "nothing of it is done")
		require.Error(t, c.Seek(tp("t-0"), -1))
		_, err := c.Position(t.Context(), tp("u-0"))
		require.ErrorIs(t, err, ErrNotAssigned)
		nothing(t, c, time.Minute)
	})
}

// TestOffsetsForTimes: the first record at or after a time.
func TestOffsetsForTimes(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		base := time.Now().Truncate(time.Millisecond)
		for i := range 3 {
			_, err := b.Produce(t.Context(), "t", 0, record.Record{Time: base.Add(time.Duration(10*i) * time.Second)})
			require.NoError(t, err)
		}
		c := made(t, b, "", Options{})
		at := func(d time.Duration) map[TopicPartition]broker.Stamped {
			found, err := c.OffsetsForTimes(map[TopicPartition]time.Time{tp("t-0"): base.Add(d), tp("t-1"): base})
			require.NoError(t, err)
			for tp := range found {
				f := found[tp]
				f.Time, f.LeaderEpoch = f.Time.In(base.Location()), 0
				found[tp] = f
			}
			return found
		}
		require.Equal(t, map[TopicPartition]broker.Stamped{tp("t-0"): {Offset: 0, Time: base}}, at(0))
		require.Equal(t, map[TopicPartition]broker.Stamped{tp("t-0"): {Offset: 1, Time: base.Add(10 * time.Second)}}, at(time.Second))
		require.Empty(t, at(time.Minute))
		_, err := c.OffsetsForTimes(map[TopicPartition]time.Time{tp("u-0"): base})
		require.ErrorIs(t, err, kerr.UnknownTopicOrPartition)
	})
}

// transact appends a transactional batch of a producer.
func transact(t *testing.T, b *broker.Broker, id int64, sequence int32, values ...string) {
	t.Helper()
	p, err := b.Partition("t", 0)
	require.NoError(t, err)
	l, err := p.Log()
	require.NoError(t, err)
	var build record.Builder
	build.Reset(record.BatchOptions{Producer: &record.Producer{ID: id, Sequence: sequence}, Transactional: true})
	for _, v := range values {
		require.NoError(t, build.Add(&record.Record{Value: []byte(v)}))
	}
	raw, err := build.Build()
	require.NoError(t, err)
	_, err = l.AppendBatch(raw, log.FromClient)
	require.NoError(t, err)
	p.Moved()
}

func conclude(t *testing.T, b *broker.Broker, id int64, commit bool) {
	t.Helper()
	p, err := b.Partition("t", 0)
	require.NoError(t, err)
	l, err := p.Log()
	require.NoError(t, err)
	_, err = l.EndTransaction(log.EndTxn{ProducerID: id, Commit: commit})
	require.NoError(t, err)
	p.Moved()
}

// TestIsolation: a reader of committed records waits for those that are not
// decided, is woken when they are, and passes over those that were aborted; the
// position is behind markers, so that nothing is read twice for nothing.
func TestIsolation(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		c := subscribed(t, b, "g", Options{Isolation: log.ReadCommitted}, "t")
		all := subscribed(t, b, "all", Options{}, "t")
		transact(t, b, 1, 0, "aborted 0", "aborted 1")
		transact(t, b, 2, 0, "committed 0")
		produce(t, b, "t", 0, "plain 0")
		require.Equal(t, []string{"aborted 0", "aborted 1", "committed 0", "plain 0"}, polled(t, all, 4))
		nothing(t, c, time.Minute)

		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			got = polled(t, c, 2)
		}()
		synctest.Wait()
		conclude(t, b, 1, false)
		synctest.Wait()
		began := time.Now()
		conclude(t, b, 2, true)
		<-done
		require.Equal(t, began, time.Now())
		require.Equal(t, []string{"committed 0", "plain 0"}, got)

		transact(t, b, 1, 2, "aborted 2")
		conclude(t, b, 1, false)
		nothing(t, c, time.Minute)
		require.Equal(t, []string{"aborted 2"}, polled(t, all, 1))
		for _, one := range []*Consumer{c, all} {
			nothing(t, one, time.Minute)
			at, err := one.Position(t.Context(), tp("t-0"))
			require.NoError(t, err)
			require.EqualValues(t, 8, at, "behind the last marker")
			require.NoError(t, one.Seek(tp("t-0"), 1))
		}
		require.Equal(t, []string{"committed 0", "plain 0"}, polled(t, c, 2))
		require.Equal(t, []string{"aborted 1", "committed 0", "plain 0", "aborted 2"}, polled(t, all, 4))
		transact(t, b, 1, 3, "committed 1")
		conclude(t, b, 1, true)
		require.NoError(t, c.SeekToBeginning())
		require.Equal(t, []string{"committed 0", "plain 0", "committed 1"}, polled(t, c, 3), "one that was aborted says nothing of the next")
		transact(t, b, 3, 0, "open")
		require.NoError(t, c.SeekToEnd())
		at, err := c.Position(t.Context(), tp("t-0"))
		require.NoError(t, err)
		require.EqualValues(t, 10, at, "the end is what the level shows")
	})
}

// TestRecreatedTopic: what is known of a topic is not taken for true of another of
// its name: not the position, not what was read, nor is it committed there.
func TestRecreatedTopic(t *testing.T) {
	for _, mode := range []string{"group", "hand"} {
		timed(t, func(t *testing.T, b *broker.Broker) {
			create(t, b, "t", 1)
			produce(t, b, "t", 0, numbers(0, 5)...)
			c := made(t, b, "g", Options{Reset: Earliest, MaxPollRecords: 3})
			if mode == "group" {
				require.NoError(t, c.Subscribe("t"))
			} else {
				require.NoError(t, c.Assign(tp("t-0")))
			}
			require.Equal(t, numbers(0, 3), polled(t, c, 3))
			require.NoError(t, c.CommitSync(t.Context(), nil))
			require.EqualValues(t, 3, committed(t, b, "g", "t-0"))

			require.NoError(t, b.DeleteTopic("t"))
			create(t, b, "t", 1)
			produce(t, b, "t", 0, numbers(100, 5)...)
			require.NoError(t, c.CommitSync(t.Context(), nil), "the position is the old topic's")
			require.EqualValues(t, -1, committed(t, b, "g", "t-0"))
			at, err := c.Position(t.Context(), tp("t-0"))
			require.NoError(t, err)
			require.EqualValues(t, 0, at)
			require.Equal(t, numbers(100, 3), polled(t, c, 3))
			require.NoError(t, c.Pause(tp("t-0")))
			nothing(t, c, time.Minute)
			require.NoError(t, c.Resume(tp("t-0")))
			require.EqualValues(t, 3, committed(t, b, "g", "t-0"), "the auto commit knows that it is another 3")
			require.Equal(t, numbers(103, 2), polled(t, c, 2))

			require.NoError(t, b.DeleteTopic("t"))
			create(t, b, "t", 1)
			produce(t, b, "t", 0, numbers(200, 5)...)
			require.NoError(t, c.Seek(tp("t-0"), 4))
			require.Equal(t, numbers(204, 1), polled(t, c, 1), "a seek right after that is one in the new topic")
		})
	}
}

// TestRecreatedTopicWakes: a Poll that waits reads a topic that is made anew as
// soon as there is something in it.
func TestRecreatedTopicWakes(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "old")
		c := subscribed(t, b, "g", Options{}, "t")
		polled(t, c, 1)
		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			got = polled(t, c, 1)
		}()
		synctest.Wait()
		require.NoError(t, b.DeleteTopic("t"))
		synctest.Wait()
		create(t, b, "t", 1)
		synctest.Wait()
		began := time.Now()
		produce(t, b, "t", 0, "new")
		<-done
		require.Equal(t, []string{"new"}, got)
		require.Equal(t, began, time.Now())
	})
}

// TestForeignOffset: an offset that was committed for another topic of the name,
// by its id, is none.
func TestForeignOffset(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		topic := create(t, b, "t", 1)
		produce(t, b, "t", 0, numbers(0, 5)...)
		_, err := b.OffsetsTopic(t.Context())
		require.NoError(t, err)
		for id, want := range map[[16]byte]int64{{1}: 0, topic.ID(): 2, {}: 2} {
			require.NoError(t, b.Group("g", func(k *group.Coordinator, now time.Time) {
				k.Commit(now, group.CommitRequest{Group: "g", Generation: -1, Offsets: []group.Commit{{TopicPartition: tp("t-0"), TopicID: id, Offset: 2}}},
					func([]group.Committed) {})
			}))
			c := made(t, b, "g", Options{Reset: Earliest, AutoCommit: NoAutoCommit})
			require.NoError(t, c.Assign(tp("t-0")))
			at, err := c.Position(t.Context(), tp("t-0"))
			require.NoError(t, err)
			require.Equal(t, want, at)
		}
	})
}

// TestDamage: what cannot be read of one partition is told, the others are read
// on, and Seek passes over it.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "t", 2)
	produce(t, b, "t", 0, "a")
	produce(t, b, "t", 0, "damaged")
	produce(t, b, "t", 0, "c")
	produce(t, b, "t", 1, "x")
	require.NoError(t, b.Close())
	name := filepath.Join(dir, "t-0", "00000000000000000000.log")
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	at := len(file)/2 + 5 // in the second of three batches of about one size
	file[at] ^= 1
	require.NoError(t, os.WriteFile(name, file, 0o644))

	b = open(t, dir)
	c := made(t, b, "", Options{Reset: Earliest})
	require.NoError(t, c.Assign(tps("t-0", "t-1")...))
	var got []string
	ctx := within(t, time.Minute)
	failed := 0
	for failed < 3 || len(got) < 2 {
		records, err := c.Poll(ctx)
		if err != nil {
			require.ErrorIs(t, err, kerr.KafkaStorageError)
			require.ErrorContains(t, err, "t-0")
			failed++
		}
		got = append(got, valuesOf(records)...)
	}
	require.ElementsMatch(t, []string{"a", "x"}, got)
	require.NoError(t, c.Seek(tp("t-0"), 2))
	require.Equal(t, []string{"c"}, polled(t, c, 1))
}

// TestPositionWaits: for a topic that is not there, as long as the caller wants.
func TestPositionWaits(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		c := made(t, b, "", Options{Reset: Earliest})
		require.NoError(t, c.Assign(tp("t-0")))
		_, err := c.Position(within(t, time.Minute), tp("t-0"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		done := make(chan int64)
		go func() {
			at, err := c.Position(context.Background(), tp("t-0"))
			assert.NoError(t, err)
			done <- at
		}()
		synctest.Wait()
		create(t, b, "t", 1)
		require.EqualValues(t, 0, <-done)

		require.NoError(t, c.Assign(tp("u-0")))
		require.NoError(t, c.Seek(tp("u-0"), 1))
		create(t, b, "u", 1)
		produce(t, b, "u", 0, "a", "b")
		require.Equal(t, []string{"b"}, polled(t, c, 1), "a seek may come before the topic")
	})
}
