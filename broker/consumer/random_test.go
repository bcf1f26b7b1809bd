package consumer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group/assign"
)

// TestOnceWhileMembersComeAndGo: members come at any time and go by Close, while
// records are appended: each record is returned once, to one of them, and at the
// end all is committed. Where members end without a word, each comes at least once.
func TestOnceWhileMembersComeAndGo(t *testing.T) {
	for i, name := range []string{"range", "sticky", "cooperative-sticky", "range", "sticky", "cooperative-sticky", "cooperative-sticky", "range"} {
		for _, clean := range []bool{true, false} {
			seed := uint64(i)
			t.Run(fmt.Sprintf("%s/clean=%t/seed=%d", name, clean, seed), func(t *testing.T) {
				timed(t, func(t *testing.T, b *broker.Broker) {
					rnd := rand.New(rand.NewPCG(seed, 0))
					create(t, b, "t", 7)
					var mu sync.Mutex
					times := make(map[string]int)
					type running struct {
						c    *Consumer
						stop func()
					}
					var all []running
					begin := func() {
						c := subscribed(t, b, "g", Options{Assignors: []assign.Assignor{assign.Assignors()[name]}, MaxPollRecords: 3,
							AutoCommit: time.Duration(1+rnd.IntN(10)) * time.Second}, "t")
						stop := polling(t, c, func(r Record) {
							mu.Lock()
							defer mu.Unlock()
							times[string(r.Value)]++
						})
						all = append(all, running{c, stop})
					}
					written := 0
					for range 60 {
						switch n := rnd.IntN(10); {
						case n < 2 && len(all) < 5 || len(all) == 0:
							begin()
						case n < 4:
							at := rnd.IntN(len(all))
							one := all[at]
							all = append(all[:at], all[at+1:]...)
							if !clean && rnd.IntN(2) == 0 {
								one.c.kill()
								one.c.nudge()
								one.stop()
								break
							}
							require.NoError(t, one.c.Close(t.Context()))
							one.stop()
						default:
							for range rnd.IntN(20) {
								produce(t, b, "t", int32(rnd.IntN(7)), fmt.Sprint(written), fmt.Sprint(written+1))
								written += 2
							}
						}
						time.Sleep(time.Duration(rnd.IntN(8000)) * time.Millisecond)
					}
					if len(all) == 0 {
						begin()
					}
					time.Sleep(5 * time.Minute) // sessions have ended, and all was read and committed
					mu.Lock()
					defer mu.Unlock()
					require.Len(t, times, written)
					for value, n := range times {
						if clean {
							require.Equal(t, 1, n, value)
						}
					}
					total := int64(0)
					for i := range 7 {
						if at := committed(t, b, "g", fmt.Sprintf("t-%d", i)); at > 0 {
							total += at
						}
					}
					require.EqualValues(t, written, total)
				})
			})
		}
	}
}

// TestAtTheSameTime: all that may be called at any time may be, while Poll runs and
// the group rebalances.
func TestAtTheSameTime(t *testing.T) {
	b := open(t, t.TempDir())
	create(t, b, "t", 4)
	o := Options{Assignors: cooperative, HeartbeatInterval: time.Millisecond, AutoCommit: time.Millisecond}
	c := subscribed(t, b, "g", o, "t")
	polling(t, c, nil)
	may := func(err error) {
		for _, ok := range []error{ErrNotAssigned, ErrCommitFailed, kerr.RebalanceInProgress, context.DeadlineExceeded} {
			if errors.Is(err, ok) {
				return
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
	var running sync.WaitGroup
	for n, do := range []func(tp TopicPartition){
		func(tp TopicPartition) { may(c.Seek(tp, 1)) },
		func(tp TopicPartition) { may(c.SeekToBeginning(tp)) },
		func(tp TopicPartition) { may(c.Pause(tp)); c.Paused(); may(c.Resume(tp)) },
		func(tp TopicPartition) { may(c.CommitSync(t.Context(), nil)) },
		func(tp TopicPartition) {
			c.CommitAsync(Offsets{tp: {Offset: 1}}, func(_ Offsets, err error) { may(err) })
		},
		func(tp TopicPartition) { _, err := c.Committed(t.Context(), tp); may(err) },
		func(tp TopicPartition) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for _, tp := range c.Assignment() {
				_, err := c.Position(ctx, tp)
				may(err)
			}
		},
		func(tp TopicPartition) { produce(t, b, "t", tp.Partition, "x") },
	} {
		running.Go(func() {
			for i := range 100 {
				do(TopicPartition{Topic: "t", Partition: int32((n + i) % 4)})
			}
		})
	}
	for range 5 {
		other := subscribed(t, b, "g", o, "t")
		stop := polling(t, other, nil)
		time.Sleep(5 * time.Millisecond)
		require.NoError(t, other.Close(t.Context()))
		stop()
	}
	running.Wait()
	require.NoError(t, c.Close(t.Context()))
}

// TestStaticThatDoesNotPoll: a static member that is not polled keeps its place
// until its session ends, and goes on in it if it is polled before.
func TestStaticThatDoesNotPoll(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		var h heard
		c := subscribed(t, b, "g", Options{InstanceID: "one", MaxPollInterval: time.Minute, SessionTimeout: time.Minute, Listener: h.listener()}, "t")
		nothing(t, c, time.Second)
		time.Sleep(90 * time.Second)
		require.ErrorIs(t, c.CommitSync(t.Context(), Offsets{tp("t-0"): {}}), ErrCommitFailed)
		require.Len(t, describe(t, b, "g").Members, 1)
		nothing(t, c, time.Second)
		require.Equal(t, tps("t-0"), c.Assignment())
		time.Sleep(4 * time.Minute)
		require.Empty(t, describe(t, b, "g").Members)
		nothing(t, c, time.Minute)
		require.Equal(t, []string{"assigned t-0", "lost t-0", "assigned t-0", "lost t-0", "assigned t-0"}, h.taken())
	})
}
