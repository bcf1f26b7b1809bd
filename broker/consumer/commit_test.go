package consumer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
)

// TestAutoCommit: what a Poll returned is committed by a later one, once the
// interval is over, by Close, or not at all.
func TestAutoCommit(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		c := subscribed(t, b, "g", Options{AutoCommit: 10 * time.Second}, "t")
		nothing(t, c, time.Second)
		produce(t, b, "t", 0, numbers(0, 3)...)
		polled(t, c, 3)
		time.Sleep(time.Minute)
		require.EqualValues(t, -1, committed(t, b, "g", "t-0"), "not before the next Poll: they are being processed")
		stop := polling(t, c, nil)
		synctest.Wait()
		require.EqualValues(t, 3, committed(t, b, "g", "t-0"))
		produce(t, b, "t", 0, "3")
		synctest.Wait()
		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 3, committed(t, b, "g", "t-0"))
		time.Sleep(time.Second)
		synctest.Wait()
		require.EqualValues(t, 4, committed(t, b, "g", "t-0"), "a Poll that waits commits too")
		stop()

		produce(t, b, "t", 0, "4")
		polled(t, c, 1)
		require.NoError(t, c.Close(t.Context()))
		require.EqualValues(t, 5, committed(t, b, "g", "t-0"), "by Close")

		c = subscribed(t, b, "none", Options{AutoCommit: NoAutoCommit}, "t")
		polled(t, c, 5)
		nothing(t, c, time.Hour)
		require.NoError(t, c.Close(t.Context()))
		require.EqualValues(t, -1, committed(t, b, "none", "t-0"))
	})
}

// TestAutoCommitWritesWhatIsNew: a member that has nothing to commit writes
// nothing; one whose partitions are assigned by hand does, as they would be
// forgotten.
func TestAutoCommitWritesWhatIsNew(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "a")
		written := func() (n int64) {
			topic, err := b.Topic(broker.ConsumerOffsets)
			require.NoError(t, err)
			for _, p := range topic.Partitions() {
				l, err := p.Log()
				require.NoError(t, err)
				n += l.End()
			}
			return n
		}
		c := subscribed(t, b, "g", Options{}, "t")
		polled(t, c, 1)
		nothing(t, c, time.Minute)
		before := written()
		nothing(t, c, time.Minute)
		require.Equal(t, before, written())
		require.NoError(t, c.Close(t.Context()))

		c = made(t, b, "hand", Options{Reset: Earliest})
		require.NoError(t, c.Assign(tp("t-0")))
		polled(t, c, 1)
		nothing(t, c, time.Minute)
		before = written()
		nothing(t, c, time.Minute)
		require.InDelta(t, before+12, written(), 1)
	})
}

// TestCommitGiven: offsets of the caller's are committed as they are, with what
// is noted of them; those that cannot be are told, and keep none of the others.
func TestCommitGiven(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 3)
		create(t, b, "gone", 1)
		produce(t, b, "t", 0, numbers(0, 5)...)
		c := subscribed(t, b, "g", Options{AutoCommit: NoAutoCommit}, "t")
		polled(t, c, 5)
		ctx := t.Context()
		require.NoError(t, c.CommitSync(ctx, Offsets{tp("t-0"): {Offset: 2, Metadata: "mine"}}))
		require.NoError(t, c.CommitSync(ctx, Offsets{}), "no offsets are not all positions")
		got, err := c.Committed(ctx, tps("t-0", "t-1")...)
		require.NoError(t, err)
		require.Equal(t, Offsets{tp("t-0"): {Offset: 2, Metadata: "mine"}}, got)

		require.NoError(t, b.DeleteTopic("gone"))
		err = c.CommitSync(ctx, Offsets{tp("gone-0"): {Offset: 1}, tp("t-1"): {Offset: 7}, tp("t-2"): {Metadata: strings.Repeat("x", 5000)},
			tp("t-9"): {}, tp("t-0"): {Offset: -1}})
		require.ErrorIs(t, err, kerr.UnknownTopicOrPartition)
		require.ErrorIs(t, err, kerr.OffsetMetadataTooLarge)
		for _, of := range []string{"gone-0", "t-9", "t-2", "-1 of t-0"} {
			require.ErrorContains(t, err, of)
		}
		require.NotContains(t, err.Error(), "t-1")
		require.EqualValues(t, 7, committed(t, b, "g", "t-1"))
		require.EqualValues(t, 2, committed(t, b, "g", "t-0"))
		require.EqualValues(t, -1, committed(t, b, "g", "t-2"))

		require.NoError(t, c.CommitSync(ctx, nil))
		require.EqualValues(t, 5, committed(t, b, "g", "t-0"))
		require.NoError(t, b.Group("g", func(k *group.Coordinator, _ time.Time) {
			got, _ := k.Fetch("g", tps("t-0"), false)
			topic, err := b.Topic("t")
			require.NoError(t, err)
			require.EqualValues(t, topic.ID(), got[0].TopicID)
			p, err := topic.Partition(0)
			require.NoError(t, err)
			require.Equal(t, p.EpochOf(4), got[0].LeaderEpoch)
		}))
	})
}

// TestCommitAsync: the callers are told by a later Poll, in the order of the
// calls, and none twice.
func TestCommitAsync(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, numbers(0, 5)...)
		c := subscribed(t, b, "g", Options{AutoCommit: NoAutoCommit, MaxPollRecords: 2}, "t")
		var told []string
		tell := func(o Offsets, err error) {
			told = append(told, fmt.Sprintf("%d %v", o[tp("t-0")].Offset, errors.Is(err, kerr.UnknownTopicOrPartition)))
			_, err = c.Committed(context.Background(), tp("t-0")) // no lock is held
			require.NoError(t, err)
		}
		polled(t, c, 2)
		c.CommitAsync(nil, tell)
		c.CommitAsync(Offsets{tp("t-0"): {Offset: 1}}, tell)
		c.CommitAsync(Offsets{tp("nowhere-0"): {}, tp("t-0"): {Offset: 4}}, tell)
		c.CommitAsync(nil, nil)
		require.EqualValues(t, 2, committed(t, b, "g", "t-0"), "the last one counts")
		require.Empty(t, told)
		polled(t, c, 2)
		require.Equal(t, []string{"2 false", "1 false", "4 true"}, told)
		c.CommitAsync(nil, tell)
		require.NoError(t, c.CommitSync(t.Context(), Offsets{}))
		require.Equal(t, "4 false", told[3], "CommitSync comes after those before")
		c.CommitAsync(nil, tell)
		require.NoError(t, c.Close(t.Context()))
		require.Len(t, told, 5)
	})
}

// TestGoneTopic: a topic that is deleted keeps no other offset from being
// committed, and is no error of Poll, CommitSync or Close, at once or ever.
func TestGoneTopic(t *testing.T) {
	for _, mode := range []string{"group", "hand"} {
		timed(t, func(t *testing.T, b *broker.Broker) {
			create(t, b, "gone", 2)
			create(t, b, "t", 1)
			produce(t, b, "gone", 0, numbers(0, 5)...)
			produce(t, b, "t", 0, "a")
			c := made(t, b, "g", Options{Reset: Earliest})
			if mode == "group" {
				require.NoError(t, c.Subscribe("t", "gone"))
			} else {
				require.NoError(t, c.Assign(tps("t-0", "gone-0", "gone-1")...))
			}
			polled(t, c, 6)
			require.NoError(t, b.DeleteTopic("gone"))
			require.NoError(t, c.CommitSync(t.Context(), nil))
			require.EqualValues(t, 1, committed(t, b, "g", "t-0"))
			for i := range 5 {
				produce(t, b, "t", 0, "x")
				require.Equal(t, []string{"x"}, polled(t, c, 1))
				nothing(t, c, time.Minute)
				require.EqualValues(t, 2+i, committed(t, b, "g", "t-0"), "auto commit")
			}
			produce(t, b, "t", 0, "last")
			polled(t, c, 1)
			require.NoError(t, c.Close(t.Context()))
			require.EqualValues(t, 7, committed(t, b, "g", "t-0"))
			require.EqualValues(t, -1, committed(t, b, "g", "gone-0"))
		})
	}
}

// TestGoneWhileWaiting: a deletion under a Poll that waits does not end it.
func TestGoneWhileWaiting(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "gone", 1)
		create(t, b, "t", 1)
		c := subscribed(t, b, "g", Options{}, "t", "gone")
		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			got = polled(t, c, 1)
		}()
		synctest.Wait()
		require.NoError(t, b.DeleteTopic("gone"))
		synctest.Wait()
		require.NoError(t, c.CommitSync(t.Context(), nil))
		time.Sleep(30 * time.Second)
		produce(t, b, "t", 0, "x")
		<-done
		require.Equal(t, []string{"x"}, got)
	})
}

// TestCommitWithoutAMember: without a generation, and by hand in a group that has
// members, nothing is committed.
func TestCommitWithoutAMember(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "a")
		c := made(t, b, "g", Options{})
		require.NoError(t, c.Subscribe("t"))
		require.ErrorIs(t, c.CommitSync(t.Context(), Offsets{tp("t-0"): {Offset: 1}}), ErrCommitFailed)
		nothing(t, c, time.Second)
		hand := made(t, b, "g", Options{AutoCommit: NoAutoCommit, Reset: Earliest})
		require.NoError(t, hand.Assign(tp("t-0")))
		polled(t, hand, 1)
		require.ErrorIs(t, hand.CommitSync(t.Context(), nil), kerr.UnknownMemberID)
		require.EqualValues(t, -1, committed(t, b, "g", "t-0"))

		alone := made(t, b, "", Options{Reset: Earliest})
		require.NoError(t, alone.Assign(tp("t-0")))
		polled(t, alone, 1)
		require.ErrorIs(t, alone.CommitSync(t.Context(), nil), ErrNoGroup)
		require.NoError(t, alone.Close(t.Context()), "there is nothing that it could commit")
	})
}

// TestAssignByHand: positions stay where partitions do, the others are committed.
func TestAssignByHand(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 3)
		for i := range 3 {
			produce(t, b, "t", int32(i), numbers(10*i, 4)...)
		}
		c := made(t, b, "g", Options{Reset: Earliest})
		require.NoError(t, c.Assign(tps("t-0", "t-1")...))
		polled(t, c, 8)
		require.NoError(t, c.Assign(tps("t-1", "t-2")...))
		require.EqualValues(t, 4, committed(t, b, "g", "t-0"))
		require.Equal(t, tps("t-1", "t-2"), c.Assignment())
		require.Equal(t, numbers(20, 4), polled(t, c, 4))
		require.NoError(t, c.Unsubscribe(t.Context()))
		require.EqualValues(t, 4, committed(t, b, "g", "t-2"))
		require.Empty(t, c.Assignment())
		require.NoError(t, c.Assign(tps("t-0")...))
		nothing(t, c, time.Minute)

		c = made(t, b, "none", Options{Reset: Earliest, AutoCommit: NoAutoCommit})
		require.NoError(t, c.Assign(tps("t-0", "t-1")...))
		polled(t, c, 8)
		require.NoError(t, c.Assign(tps("t-1", "t-2")...))
		require.Equal(t, numbers(20, 4), polled(t, c, 4), "what stays keeps its position")
		require.EqualValues(t, -1, committed(t, b, "none", "t-0"))
	})
}

// TestGoesOn: a consumer of a later life of the broker goes on where the earlier
// one has committed, once the groups are loaded.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "t", 2)
	produce(t, b, "t", 0, numbers(0, 5)...)
	c := subscribed(t, b, "g", Options{}, "t")
	polled(t, c, 5)
	require.NoError(t, c.Close(t.Context()))
	produce(t, b, "t", 0, "5")
	require.NoError(t, b.Close())

	b = open(t, dir)
	c = subscribed(t, b, "g", Options{}, "t")
	require.Equal(t, []string{"5"}, polled(t, c, 1))
	got, err := c.Committed(within(t, time.Minute), tp("t-0"))
	require.NoError(t, err)
	require.EqualValues(t, 5, got[tp("t-0")].Offset)
}
