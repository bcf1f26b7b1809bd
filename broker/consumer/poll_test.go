package consumer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group/assign"
)

// TestReadsAll: all records of all partitions come once, of each partition in
// order, never more at a time than MaxPollRecords.
func TestReadsAll(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 3)
		for i := range 3 {
			for j := range 4 {
				produce(t, b, "t", int32(i), numbers(100*i+10*j, 10)...)
			}
		}
		c := subscribed(t, b, "g", Options{MaxPollRecords: 7}, "t")
		next := map[int32]int64{}
		ctx := within(t, time.Minute)
		for total := 0; total < 120; {
			records, err := c.Poll(ctx)
			require.NoError(t, err)
			require.NotEmpty(t, records)
			require.LessOrEqual(t, len(records), 7)
			for _, r := range records {
				require.Equal(t, next[r.Partition], r.Offset)
				require.Equal(t, numbers(100*int(r.Partition)+int(r.Offset), 1)[0], string(r.Value))
				require.Equal(t, "t", r.Topic)
				next[r.Partition]++
			}
			total += len(records)
			for of, offset := range next {
				at, err := c.Position(ctx, TopicPartition{Topic: "t", Partition: of})
				require.NoError(t, err)
				require.Equal(t, offset, at, "the position is behind what was returned")
			}
		}
		nothing(t, c, time.Minute)
	})
}

// TestPollFillsUp: what there is of other partitions comes with what was left of
// one, as far as MaxPollRecords goes.
func TestPollFillsUp(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		produce(t, b, "t", 0, numbers(0, 10)...)
		c := made(t, b, "", Options{Reset: Earliest, MaxPollRecords: 7})
		require.NoError(t, c.Assign(tps("t-0", "t-1")...))
		require.Equal(t, numbers(0, 7), polled(t, c, 1))
		produce(t, b, "t", 1, "x", "y")
		require.Equal(t, append(numbers(7, 3), "x", "y"), polled(t, c, 1))
	})
}

// TestOneDoesNotStarveOthers: a partition that has more than is read at once does
// not keep the others from being read.
func TestOneDoesNotStarveOthers(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		for i := range 100 {
			produce(t, b, "t", 0, numbers(i, 10)...)
		}
		produce(t, b, "t", 1, "other")
		for _, first := range []string{"t-0", "t-1"} {
			c := made(t, b, "", Options{Reset: Earliest, MaxPollRecords: 10, MaxPartitionBytes: 200, MaxBytes: 200})
			require.NoError(t, c.Assign(tp(first), tp("t-0"), tp("t-1")))
			polls := 0
			for seen := false; !seen; polls++ {
				records, err := c.Poll(within(t, time.Minute))
				require.NoError(t, err)
				for _, r := range records {
					seen = seen || r.Partition == 1
				}
			}
			assert.Less(t, polls, 8)
		}
	})
}

// TestWoken: a Poll that waits returns what is appended the moment it is, though
// nothing of the consumer's looks for it.
func TestWoken(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 3)
		c := subscribed(t, b, "g", Options{AutoCommit: NoAutoCommit}, "t")
		nothing(t, c, time.Minute)
		for i := range 3 {
			done := make(chan time.Time)
			go func() {
				assert.Equal(t, []string{"x"}, polled(t, c, 1))
				done <- time.Now()
			}()
			time.Sleep(7 * time.Second)
			synctest.Wait()
			began := time.Now()
			produce(t, b, "t", int32(i), "x")
			require.Equal(t, time.Duration(0), (<-done).Sub(began))
		}
	})
}

// TestWokenByOthers: the other methods take effect on a Poll that waits.
func TestWokenByOthers(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "0", "1", "2")
		c := made(t, b, "", Options{})
		require.NoError(t, c.Assign(tp("t-0"), tp("later-0")))
		for name, do := range map[string]func() error{
			"seek":              func() error { return c.Seek(tp("t-0"), 2) },
			"seek to beginning": func() error { return c.SeekToBeginning(tp("t-0")) },
			"resume": func() error {
				return errors.Join(c.Pause(tp("t-0")), c.Seek(tp("t-0"), 2), c.Resume(tp("t-0")))
			},
		} {
			nothing(t, c, time.Minute)
			done := make(chan time.Time)
			go func() {
				_, err := c.Poll(within(t, time.Hour))
				assert.NoError(t, err, name)
				done <- time.Now()
			}()
			synctest.Wait()
			began := time.Now()
			require.NoError(t, do(), name)
			require.Equal(t, time.Duration(0), (<-done).Sub(began), name)
		}
	})
}

// TestPaused: of a paused partition nothing is read nor returned, what had been
// read of it before included, and Resume goes on where it was.
func TestPaused(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		produce(t, b, "t", 0, "a", "b", "c")
		c := made(t, b, "", Options{Reset: Earliest, MaxPollRecords: 1})
		require.NoError(t, c.Assign(tps("t-0", "t-1")...))
		require.Equal(t, []string{"a"}, polled(t, c, 1))

		require.NoError(t, c.Pause(tp("t-0")))
		require.Equal(t, tps("t-0"), c.Paused())
		nothing(t, c, time.Minute)
		produce(t, b, "t", 1, "x")
		require.Equal(t, []string{"x"}, polled(t, c, 1), "the other one is read on")
		at, err := c.Position(t.Context(), tp("t-0"))
		require.NoError(t, err)
		require.EqualValues(t, 1, at)

		// Of one that is paused with nothing read, nothing is.
		require.NoError(t, c.Seek(tp("t-0"), 0))
		nothing(t, c, time.Minute)
		c.mu.Lock()
		require.Empty(t, c.mu.parts[tp("t-0")].buffer)
		c.mu.Unlock()

		require.NoError(t, c.Resume(tp("t-0")))
		require.Empty(t, c.Paused())
		require.Equal(t, []string{"a", "b", "c"}, polled(t, c, 3))
	})
}

// TestRecords: a loop that ends leaves the position behind what it has got, and
// what is committed in it is what it has got.
func TestRecords(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, numbers(0, 10)...)
		c := subscribed(t, b, "g", Options{AutoCommit: NoAutoCommit}, "t")
		ctx := within(t, time.Minute)
		var got []string
		for r, err := range c.Records(ctx) {
			require.NoError(t, err)
			if got = append(got, string(r.Value)); len(got) == 4 {
				require.NoError(t, c.CommitSync(ctx, nil))
				break
			}
		}
		require.Equal(t, numbers(0, 4), got)
		require.EqualValues(t, 4, committed(t, b, "g", "t-0"))
		require.Equal(t, numbers(4, 6), polled(t, c, 6))

		ended := errors.New("that was all")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, ended)
		defer cancel()
		n := 0
		for _, err := range c.Records(ctx) {
			require.ErrorIs(t, err, ended)
			n++
		}
		require.Equal(t, 1, n, "the end of ctx ends it")
	})
}

// TestPollOfAnEndedContext: it returns nothing, and loses nothing.
func TestPollOfAnEndedContext(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "a")
		c := subscribed(t, b, "g", Options{}, "t")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		records, err := c.Poll(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, records)
		require.Equal(t, []string{"a"}, polled(t, c, 1))
	})
}

// TestOneAtATime: what changes partitions is refused while a Poll runs, in the
// Listener too, instead of waiting for itself.
func TestOneAtATime(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		var c *Consumer
		var inside []error
		c = subscribed(t, b, "g", Options{Listener: Listener{Assigned: func(ctx context.Context, _ []TopicPartition) {
			_, err := c.Poll(ctx)
			inside = append(inside, err, c.Subscribe("u"), c.Unsubscribe(ctx), c.Assign())
		}}}, "t")
		nothing(t, c, time.Second)
		require.Len(t, inside, 4)
		for _, err := range inside {
			require.ErrorIs(t, err, ErrPolling)
		}
		stop := polling(t, c, nil)
		synctest.Wait()
		_, err := c.Poll(t.Context())
		require.ErrorIs(t, err, ErrPolling)
		stop()
		nothing(t, c, time.Second)
	})
}

// TestModes: partitions are assigned by the group or by hand, not by both.
func TestModes(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		c := made(t, b, "g", Options{})
		_, err := c.Poll(t.Context())
		require.ErrorIs(t, err, ErrMode)
		require.NoError(t, c.Subscribe("t"))
		require.ErrorIs(t, c.Assign(tp("t-0")), ErrMode)
		require.NoError(t, c.Unsubscribe(t.Context()))
		require.NoError(t, c.Assign(tp("t-0")))
		require.ErrorIs(t, c.Subscribe("t"), ErrMode)
		require.Error(t, c.Assign(tp("-0")))
		require.Error(t, c.Assign(TopicPartition{Topic: "t", Partition: -1}))
		require.Equal(t, tps("t-0"), c.Assignment())

		alone := made(t, b, "", Options{})
		require.ErrorIs(t, alone.Subscribe("t"), ErrNoGroup)
		_, err = alone.Committed(t.Context(), tp("t-0"))
		require.ErrorIs(t, err, ErrNoGroup)
		require.Error(t, c.Subscribe())
		require.Error(t, c.Subscribe(""))
		require.Error(t, c.SubscribePattern(nil))
	})
}

// TestOptions: what cannot be is refused, and says what is wanted.
func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"Reset is 3":                     {Reset: 3},
		"AutoCommit is":                  {AutoCommit: -2},
		"a negative MaxPollRecords":      {MaxPollRecords: -1},
		"a negative MaxPollInterval":     {MaxPollInterval: -1},
		"HeartbeatInterval is 10s, want": {HeartbeatInterval: 10 * time.Second, SessionTimeout: 10 * time.Second},
		"a negative MaxPollInterval, ":   {SessionTimeout: -1},
		"Assignors is empty":             {Assignors: []assign.Assignor{}},
	} {
		_, err := New(nil, "g", o)
		require.ErrorContains(t, err, want)
	}
}

// TestCloseEndsPoll: a Poll that waits returns, and Close waits for that.
func TestCloseEndsPoll(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		c := subscribed(t, b, "g", Options{}, "t")
		done := make(chan error, 1)
		go func() {
			_, err := c.Poll(context.Background())
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		require.NoError(t, c.Close(t.Context()))
		require.ErrorIs(t, <-done, ErrClosed)
		require.Equal(t, began, time.Now())
		require.NoError(t, c.Close(t.Context()), "again")
		_, err := c.Poll(t.Context())
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, c.Seek(tp("t-0"), 0), ErrClosed)
		require.ErrorIs(t, c.CommitSync(t.Context(), nil), ErrClosed)
		require.ErrorIs(t, c.Subscribe("t"), ErrClosed)
		_, err = c.Position(t.Context(), tp("t-0"))
		require.ErrorIs(t, err, ErrClosed)
		require.Equal(t, "Empty", describe(t, b, "g").State.String(), "it has left")
		c.topics.Store(false)
		create(t, b, "u", 1)
		require.False(t, c.topics.Load(), "the broker tells it of nothing any more")
	})
}

// TestCloseIsBounded: a Listener that does not return does not hold up Close for
// longer than its context.
func TestCloseIsBounded(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		free := make(chan struct{})
		c := subscribed(t, b, "g", Options{Listener: Listener{Assigned: func(context.Context, []TopicPartition) { <-free }}}, "t")
		done := make(chan error, 1)
		go func() {
			_, err := c.Poll(context.Background())
			done <- err
		}()
		synctest.Wait()
		require.ErrorIs(t, c.Close(within(t, time.Second)), context.DeadlineExceeded)
		require.Equal(t, "Empty", describe(t, b, "g").State.String(), "it has left all the same")
		require.Empty(t, c.Assignment())
		close(free)
		require.ErrorIs(t, <-done, ErrClosed)
	})
}

// TestBrokerClosed: the end of the broker ends Poll, and Close does not wait for
// what cannot be any more.
func TestBrokerClosed(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "a")
		c := subscribed(t, b, "g", Options{}, "t")
		polled(t, c, 1)
		done := make(chan error, 1)
		go func() {
			_, err := c.Poll(context.Background())
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, b.Close())
		require.ErrorIs(t, <-done, broker.ErrClosed)
		require.ErrorIs(t, c.Close(context.Background()), broker.ErrClosed, "the position could not be committed")
	})
}
