package consumer

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/group/assign"
)

var cooperative = []assign.Assignor{assign.CooperativeSticky{}}

// TestShared: two members have each partition once, whatever the assignor; one
// that leaves, or whose process ends, leaves its own to the other.
func TestShared(t *testing.T) {
	for _, name := range []string{"range", "roundrobin", "sticky", "cooperative-sticky"} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T, b *broker.Broker) {
				create(t, b, "t", 4)
				create(t, b, "u", 4)
				o := Options{Assignors: []assign.Assignor{assign.Assignors()[name]}}
				shares := func(list ...*Consumer) {
					t.Helper()
					time.Sleep(time.Minute) // rebalances have had their heartbeats
					var all []TopicPartition
					for _, c := range list {
						owned := c.Assignment()
						require.Len(t, owned, 8/len(list))
						all = append(all, owned...)
					}
					slices.SortFunc(all, inOrder)
					require.Equal(t, tps("t-0", "t-1", "t-2", "t-3", "u-0", "u-1", "u-2", "u-3"), all)
					d := describe(t, b, "g")
					require.Equal(t, group.Stable, d.State)
					require.Equal(t, name, d.Protocol)
					require.Len(t, d.Members, len(list))
				}
				one := subscribed(t, b, "g", o, "t", "u")
				polling(t, one, nil)
				shares(one)
				two := subscribed(t, b, "g", o, "t", "u")
				stop := polling(t, two, nil)
				shares(one, two)
				stop()
				require.NoError(t, two.Close(t.Context()))
				shares(one)

				three := subscribed(t, b, "g", o, "t", "u")
				stop = polling(t, three, nil)
				shares(one, three)
				three.kill()
				three.nudge()
				stop()
				shares(one)
			})
		})
	}
}

// TestSessionEnds: a member that says nothing is thrown out when its session
// timeout is over, and no earlier.
func TestSessionEnds(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		one := subscribed(t, b, "g", Options{SessionTimeout: 20 * time.Second}, "t")
		nothing(t, one, time.Second)
		time.Sleep(time.Minute)
		require.Len(t, describe(t, b, "g").Members, 1, "heartbeats need no Poll")
		one.kill()
		time.Sleep(10 * time.Second)
		require.Len(t, describe(t, b, "g").Members, 1)
		time.Sleep(10 * time.Second)
		require.Empty(t, describe(t, b, "g").Members)
	})
}

// TestEager: everything is revoked before a rebalance, and what the Listener
// commits then is where the next owner begins.
func TestEager(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		produce(t, b, "t", 0, numbers(0, 5)...)
		produce(t, b, "t", 1, numbers(10, 5)...)
		var a *Consumer
		var h heard
		l := h.listener()
		a = subscribed(t, b, "g", Options{AutoCommit: NoAutoCommit, Listener: Listener{Assigned: l.Assigned,
			Revoked: func(ctx context.Context, list []TopicPartition) {
				h.add("revoked", list)
				require.Equal(t, list, a.Assignment(), "they are still its own")
				require.NoError(t, a.CommitSync(ctx, nil))
			}}}, "t")
		require.ElementsMatch(t, append(numbers(0, 5), numbers(10, 5)...), polled(t, a, 10))
		require.Equal(t, []string{"assigned t-0 t-1"}, h.taken())
		stop := polling(t, a, nil)
		two := subscribed(t, b, "g", Options{}, "t")
		stop2 := polling(t, two, func(r Record) { t.Errorf("%s again", r.Value) })
		time.Sleep(time.Minute)
		require.Equal(t, "revoked t-0 t-1", h.taken()[0])
		require.Len(t, a.Assignment(), 1)
		require.Len(t, two.Assignment(), 1)
		require.EqualValues(t, 5, committed(t, b, "g", "t-0"))
		require.EqualValues(t, 5, committed(t, b, "g", "t-1"))
		stop()
		stop2()
	})
}

// TestCooperative: only what goes to another is revoked, the rest is read on while
// the rebalance waits.
func TestCooperative(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 4)
		var h heard
		a := subscribed(t, b, "g", Options{Assignors: cooperative, Listener: h.listener()}, "t")
		nothing(t, a, time.Second)
		require.Equal(t, []string{"assigned t-0 t-1 t-2 t-3"}, h.taken())

		// Another member, which holds up the rebalance as it does not rejoin.
		two := subscribed(t, b, "g", Options{Assignors: cooperative, MaxPollInterval: time.Hour}, "t")
		stop := polling(t, a, nil)
		stop2 := polling(t, two, nil)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"revoked t-2 t-3", "assigned", "assigned"}, h.taken())
		require.Equal(t, tps("t-0", "t-1"), a.Assignment())
		require.Equal(t, tps("t-2", "t-3"), two.Assignment())
		stop()
		stop2()

		three := subscribed(t, b, "g", Options{Assignors: cooperative}, "t")
		stop3 := polling(t, three, nil)
		nothing(t, a, time.Minute) // it has joined; two has not
		require.Equal(t, "PreparingRebalance", describe(t, b, "g").State.String())
		produce(t, b, "t", 0, "meanwhile")
		require.Equal(t, []string{"meanwhile"}, polled(t, a, 1))
		require.Empty(t, h.taken())
		stop2 = polling(t, two, nil)
		stop = polling(t, a, nil)
		time.Sleep(time.Minute)
		require.Len(t, three.Assignment(), 1)
		stop()
		stop2()
		stop3()
	})
}

// TestSticky: members keep what they have when another one comes and when it goes.
func TestSticky(t *testing.T) {
	for _, assignors := range [][]assign.Assignor{{assign.Sticky{}}, cooperative} {
		timed(t, func(t *testing.T, b *broker.Broker) {
			create(t, b, "t", 5)
			create(t, b, "u", 7)
			o := Options{Assignors: assignors}
			var list []*Consumer
			var had [][]TopicPartition
			for n := range 4 {
				c := subscribed(t, b, "g", o, "t", "u")
				defer polling(t, c, nil)()
				time.Sleep(time.Minute)
				for i, c := range list {
					require.Len(t, c.Assignment(), 12/(n+1))
					require.Subset(t, had[i], c.Assignment())
				}
				list, had = append(list, c), nil
				for _, c := range list {
					had = append(had, c.Assignment())
				}
			}
			require.NoError(t, list[3].Close(t.Context()))
			time.Sleep(time.Minute)
			for i, c := range list[:3] {
				require.Len(t, c.Assignment(), 4)
				require.Subset(t, c.Assignment(), had[i])
			}
		})
	}
}

// TestCommitAfterRevoke: positions of a partition that was revoked are not
// committed any more, by nobody, and those that were read until then are.
func TestCommitAfterRevoke(t *testing.T) {
	for name, assignors := range map[string][]assign.Assignor{"eager": nil, "cooperative": cooperative} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T, b *broker.Broker) {
				create(t, b, "t", 2)
				a := subscribed(t, b, "g", Options{Assignors: assignors, AutoCommit: time.Hour}, "t")
				nothing(t, a, time.Second)
				two := subscribed(t, b, "g", Options{Assignors: assignors, AutoCommit: NoAutoCommit}, "t")
				var got []string
				stop2 := polling(t, two, func(r Record) { got = append(got, string(r.Value)) })
				synctest.Wait()
				produce(t, b, "t", 0, "0")
				produce(t, b, "t", 1, "1")
				// Read after it has joined, if it may, so after the commit of the join.
				stop := polling(t, a, nil)
				time.Sleep(time.Minute)
				stop()
				stop2()
				require.Len(t, a.Assignment(), 1)
				require.Len(t, two.Assignment(), 1)
				theirs := two.Assignment()[0]
				name := map[int32]string{0: "t-0", 1: "t-1"}[theirs.Partition]
				if assignors != nil {
					require.Empty(t, got, "a has read it, and committed when it was revoked")
					require.EqualValues(t, 1, committed(t, b, "g", name))
				}
				_, err := a.Position(t.Context(), theirs)
				require.ErrorIs(t, err, ErrNotAssigned)
				require.NoError(t, two.CommitSync(t.Context(), Offsets{theirs: {Offset: 77}}))
				require.NoError(t, a.CommitSync(t.Context(), nil))
				require.NoError(t, a.Close(t.Context()))
				require.EqualValues(t, 77, committed(t, b, "g", name))
			})
		})
	}
}

// TestReadDuringARebalance: what a cooperative member reads while a rebalance waits
// for others is committed before a partition goes, so that nobody reads it again.
func TestReadDuringARebalance(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 6)
		o := Options{Assignors: cooperative, AutoCommit: time.Hour}
		a := subscribed(t, b, "g", o, "t")
		two := subscribed(t, b, "g", o, "t")
		stop, stop2 := polling(t, a, nil), polling(t, two, nil)
		time.Sleep(time.Minute)
		stop()
		stop2()
		had := a.Assignment()
		require.Len(t, had, 3)
		three := subscribed(t, b, "g", o, "t")
		stop3 := polling(t, three, func(r Record) { t.Errorf("%s again", r.Value) })
		nothing(t, a, time.Minute) // it has joined; two has not
		for _, tp := range had {
			produce(t, b, "t", tp.Partition, "x")
		}
		polled(t, a, 3)
		stop, stop2 = polling(t, a, nil), polling(t, two, nil)
		time.Sleep(time.Minute)
		require.Len(t, three.Assignment(), 2)
		stop()
		stop2()
		stop3()
	})
}

// TestCommitAsARebalanceEnds: a commit between the answer to a join and the Poll that
// takes it is refused, and nothing else happens: the partitions are not lost. Close
// commits all the same.
func TestCommitAsARebalanceEnds(t *testing.T) {
	for _, by := range []string{"commit", "close"} {
		timed(t, func(t *testing.T, b *broker.Broker) {
			create(t, b, "t", 4)
			var h heard
			o := Options{Assignors: cooperative, AutoCommit: time.Hour}
			two := subscribed(t, b, "g", o, "t")
			stop2 := polling(t, two, nil)
			synctest.Wait()
			o.Listener = h.listener()
			a := subscribed(t, b, "g", o, "t")
			stop := polling(t, a, nil)
			time.Sleep(time.Minute)
			stop2()
			stop()
			three := subscribed(t, b, "g", o, "t")
			stop3 := polling(t, three, nil)
			nothing(t, a, time.Minute) // it has joined; two has not
			mine := a.Assignment()[0]
			produce(t, b, "t", mine.Partition, "x")
			polled(t, a, 1)
			h.taken()
			time.Sleep(time.Second)
			stop2 = polling(t, two, nil) // before a's next heartbeat
			synctest.Wait()
			if by == "commit" {
				require.ErrorIs(t, a.CommitSync(t.Context(), Offsets{tp("t-0"): {}}), kerr.RebalanceInProgress)
				stop = polling(t, a, nil)
				time.Sleep(time.Minute)
				for _, told := range h.taken() {
					require.NotContains(t, told, "lost")
				}
				stop()
			} else {
				require.NoError(t, a.Close(t.Context()))
				require.EqualValues(t, 1, committed(t, b, "g", fmt.Sprintf("t-%d", mine.Partition)))
			}
			stop2()
			stop3()
		})
	}
}

// TestLostWhileRevoking: a member that is thrown out while its Listener revokes gets
// nothing of what it was assigned.
func TestLostWhileRevoking(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 4)
		var h heard
		l := h.listener()
		l.Revoked = func(_ context.Context, list []TopicPartition) {
			h.add("revoked", list)
			time.Sleep(3 * time.Minute)
		}
		a := subscribed(t, b, "g", Options{Assignors: cooperative, MaxPollInterval: 2 * time.Minute, Listener: l}, "t")
		stop := polling(t, a, nil)
		synctest.Wait()
		two := subscribed(t, b, "g", Options{Assignors: cooperative, MaxPollInterval: time.Hour}, "t")
		stop2 := polling(t, two, nil)
		time.Sleep(4 * time.Minute)
		require.Equal(t, []string{"assigned t-0 t-1 t-2 t-3", "revoked t-2 t-3", "lost t-0 t-1"}, h.taken()[:3])
		stop()
		stop2()
	})
}

// TestHeartbeatsCarryARebalance: a member whose caller is busy does not hold up the
// others once it has joined: it leads, and asks for its assignment, all the same.
func TestHeartbeatsCarryARebalance(t *testing.T) {
	timedWith(t, map[string]string{"group.initial.rebalance.delay.ms": "3000"}, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 2)
		leader := subscribed(t, b, "g", Options{}, "t")
		nothing(t, leader, time.Second)
		other := subscribed(t, b, "g", Options{}, "t")
		stop := polling(t, other, nil)
		time.Sleep(20 * time.Second)
		require.Equal(t, group.Stable, describe(t, b, "g").State)
		require.Equal(t, 1, len(other.Assignment()))
		stop()
		nothing(t, leader, time.Second)
		require.Equal(t, 1, len(leader.Assignment()))
	})
}

// TestMaxPollInterval: who does not poll loses its partitions to others; what it
// commits is refused, and its next Poll begins anew.
func TestMaxPollInterval(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "a")
		var h heard
		o := Options{MaxPollInterval: 2 * time.Minute, AutoCommit: NoAutoCommit, Listener: h.listener()}
		slow := subscribed(t, b, "g", o, "t")
		polled(t, slow, 1)
		h.taken()
		time.Sleep(119 * time.Second)
		require.Len(t, describe(t, b, "g").Members, 1)
		time.Sleep(5 * time.Second)
		require.Empty(t, describe(t, b, "g").Members)

		other := subscribed(t, b, "g", Options{}, "t")
		require.Equal(t, []string{"a"}, polled(t, other, 1))
		require.ErrorIs(t, slow.CommitSync(t.Context(), nil), ErrCommitFailed)
		require.ErrorIs(t, slow.CommitSync(t.Context(), Offsets{tp("t-0"): {Offset: 1}}), ErrCommitFailed)
		require.NoError(t, other.CommitSync(t.Context(), nil))
		require.Empty(t, h.taken(), "the Listener is told by Poll")
		require.NoError(t, other.Close(t.Context()))
		nothing(t, slow, time.Minute)
		require.Equal(t, []string{"lost t-0", "assigned t-0"}, h.taken())
		at, err := slow.Position(t.Context(), tp("t-0"))
		require.NoError(t, err)
		require.EqualValues(t, 1, at)

		// A Poll that waits is one.
		nothing(t, slow, time.Hour)
		require.Empty(t, h.taken())
	})
}

// TestSlowListener: its time counts as time without a Poll.
func TestSlowListener(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		var h heard
		l := h.listener()
		slow := l.Assigned
		l.Assigned = func(ctx context.Context, list []TopicPartition) {
			if slow != nil {
				slow = nil
				time.Sleep(3 * time.Minute)
			}
		}
		c := subscribed(t, b, "g", Options{MaxPollInterval: 2 * time.Minute, Listener: l}, "t")
		done := make(chan struct{})
		go func() { defer close(done); nothing(t, c, time.Hour) }()
		time.Sleep(150 * time.Second)
		require.Empty(t, describe(t, b, "g").Members)
		<-done
		require.Equal(t, []string{"lost t-0"}, h.taken())
		require.Len(t, describe(t, b, "g").Members, 1)
	})
}

// TestThrownOut: a member that an administrator removed learns of it by its
// heartbeat or its commit, and joins again.
func TestThrownOut(t *testing.T) {
	for _, by := range []string{"heartbeat", "commit"} {
		timed(t, func(t *testing.T, b *broker.Broker) {
			create(t, b, "t", 1)
			produce(t, b, "t", 0, "a")
			var h heard
			c := subscribed(t, b, "g", Options{AutoCommit: NoAutoCommit, Listener: h.listener()}, "t")
			polled(t, c, 1)
			h.taken()
			id := describe(t, b, "g").Members[0].MemberID
			require.NoError(t, b.Group("g", func(k *group.Coordinator, now time.Time) {
				k.Leave(now, group.LeaveRequest{Group: "g", Members: []group.Leaver{{MemberID: id}}})
			}))
			if by == "commit" {
				require.ErrorIs(t, c.CommitSync(t.Context(), nil), ErrCommitFailed)
			}
			began := time.Now()
			require.Equal(t, []string{"a"}, polled(t, c, 1), "nothing was committed")
			require.Equal(t, by == "commit", time.Since(began) == 0, "who knows joins at once")
			require.Equal(t, []string{"lost t-0", "assigned t-0"}, h.taken())
			require.NotEqual(t, id, describe(t, b, "g").Members[0].MemberID)
		})
	}
}

// TestCloseAfterLoss: Close tells that partitions were lost, by Revoked if there is
// no Lost.
func TestCloseAfterLoss(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		for want, without := range map[string]bool{"lost t-0": false, "revoked t-0": true} {
			var h heard
			l := h.listener()
			if without {
				l.Lost = nil
			}
			c := subscribed(t, b, "g", Options{MaxPollInterval: time.Minute, Listener: l}, "t")
			nothing(t, c, time.Second)
			time.Sleep(2 * time.Minute)
			require.NoError(t, c.Close(t.Context()))
			require.Equal(t, []string{"assigned t-0", want}, h.taken())
		}
	})
}

// TestCloseTells: Close revokes, commits before that, and leaves at once.
func TestCloseTells(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		produce(t, b, "t", 0, "a")
		var c *Consumer
		var h heard
		l := h.listener()
		l.Revoked = func(ctx context.Context, list []TopicPartition) {
			h.add("revoked", list)
			require.EqualValues(t, 1, committed(t, b, "g", "t-0"))
			require.NoError(t, c.CommitSync(ctx, Offsets{tp("t-0"): {Offset: 1, Metadata: "by hand"}}))
		}
		c = subscribed(t, b, "g", Options{Listener: l}, "t")
		polled(t, c, 1)
		require.NoError(t, c.Unsubscribe(t.Context()))
		require.Equal(t, "Empty", describe(t, b, "g").State.String())
		require.Equal(t, []string{"assigned t-0", "revoked t-0"}, h.taken())
		require.NoError(t, c.Subscribe("t"))
		nothing(t, c, time.Minute)
		got, err := c.Committed(t.Context(), tp("t-0"))
		require.NoError(t, err)
		require.Equal(t, Offsets{tp("t-0"): {Offset: 1, Metadata: "by hand"}}, got)
		require.NoError(t, c.Close(t.Context()))
		require.Equal(t, []string{"assigned t-0", "revoked t-0"}, h.taken())
		require.Empty(t, describe(t, b, "g").Members)
	})
}

// TestStatic: a static member that is closed keeps its place, and the next one
// gets it without a rebalance; two of one id do not share it.
func TestStatic(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 4)
		var h heard
		static := Options{InstanceID: "one"}
		one := subscribed(t, b, "g", static, "t")
		nothing(t, one, time.Second)
		two := subscribed(t, b, "g", Options{InstanceID: "two", Listener: h.listener()}, "t")
		stop := polling(t, one, nil)
		stop2 := polling(t, two, nil)
		time.Sleep(time.Minute)
		stop()
		mine := one.Assignment()
		require.Len(t, mine, 2)
		before := h.taken()
		require.NotEmpty(t, before)
		require.NoError(t, one.Close(t.Context()))
		time.Sleep(20 * time.Second)
		require.Len(t, describe(t, b, "g").Members, 2, "it has not left")

		again := subscribed(t, b, "g", static, "t")
		stop = polling(t, again, nil)
		time.Sleep(time.Minute)
		require.Equal(t, mine, again.Assignment())
		require.Empty(t, h.taken(), "nobody else has noticed")
		stop()

		// The leader is the one that has come back: it still sees what changes.
		stop = polling(t, again, nil)
		require.NoError(t, b.CreatePartitions(t.Context(), "t", 6, false))
		time.Sleep(time.Minute)
		require.Len(t, again.Assignment(), 3)
		require.Len(t, two.Assignment(), 3)
		stop()

		other := subscribed(t, b, "g", static, "t")
		stop3 := polling(t, other, nil)
		time.Sleep(time.Minute)
		for range 2 {
			_, err := again.Poll(within(t, time.Minute))
			require.ErrorIs(t, err, kerr.FencedInstanceID)
		}
		require.Empty(t, again.Assignment())
		require.ErrorIs(t, again.CommitSync(t.Context(), Offsets{tp("t-0"): {}}), ErrCommitFailed)
		stop2()
		stop3()
	})
}

// TestPattern: topics that match are read, those that come later from when they
// are there, and none of the coordinators'.
func TestPattern(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "orders-eu", 1)
		create(t, b, "other", 1)
		c := made(t, b, "g", Options{Reset: Earliest})
		require.NoError(t, c.SubscribePattern(regexp.MustCompile("^orders|^__")))
		nothing(t, c, time.Second)
		require.Equal(t, []TopicPartition{{Topic: "orders-eu"}}, c.Assignment())
		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			got = polled(t, c, 1)
		}()
		synctest.Wait()
		create(t, b, "orders-us", 1)
		began := time.Now()
		produce(t, b, "orders-us", 0, "new")
		<-done
		require.Equal(t, []string{"new"}, got)
		require.Equal(t, began, time.Now())
		require.NoError(t, b.DeleteTopic("orders-eu"))
		nothing(t, c, time.Minute)
		require.Equal(t, []TopicPartition{{Topic: "orders-us"}}, c.Assignment())
	})
}

// TestPartitionsComeLater: the leader sees that a topic of the group's has got more
// partitions, or is there now, though it may not subscribe to it itself.
func TestPartitionsComeLater(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		leader := subscribed(t, b, "g", Options{}, "t")
		stop := polling(t, leader, nil)
		synctest.Wait()
		other := subscribed(t, b, "g", Options{}, "later")
		stop2 := polling(t, other, nil)
		time.Sleep(time.Minute)
		require.Equal(t, tps("t-0"), leader.Assignment())
		require.Empty(t, other.Assignment())
		create(t, b, "later", 1)
		time.Sleep(time.Minute)
		require.Equal(t, tps("later-0"), other.Assignment())
		require.NoError(t, b.CreatePartitions(t.Context(), "later", 2, false))
		time.Sleep(time.Minute)
		require.Equal(t, tps("later-0", "later-1"), other.Assignment())
		require.Equal(t, tps("t-0"), leader.Assignment())
		stop()
		stop2()
	})
}

// TestSubscribeAgain: another subscription takes the place of the one before.
func TestSubscribeAgain(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		create(t, b, "u", 1)
		var h heard
		c := subscribed(t, b, "g", Options{Assignors: cooperative, Listener: h.listener()}, "t")
		nothing(t, c, time.Second)
		require.NoError(t, c.Subscribe("u", "u"))
		nothing(t, c, time.Minute)
		require.Equal(t, tps("u-0"), c.Assignment())
		require.Equal(t, []string{"assigned t-0", "revoked t-0", "assigned u-0", "assigned"}, h.taken())
	})
}

// TestRefused: what keeps a member out of its group is an error of Poll, for as
// long as it does.
func TestRefused(t *testing.T) {
	timedWith(t, map[string]string{"group.max.size": "1"}, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		short := subscribed(t, b, "short", Options{SessionTimeout: time.Second}, "t")
		_, err := short.Poll(within(t, time.Minute))
		require.ErrorIs(t, err, kerr.InvalidSessionTimeout)

		one := subscribed(t, b, "g", Options{}, "t")
		nothing(t, one, time.Second)
		two := subscribed(t, b, "g", Options{}, "t")
		began := time.Now()
		for range 3 {
			_, err = two.Poll(within(t, time.Minute))
			require.ErrorIs(t, err, kerr.GroupMaxSizeReached)
		}
		require.Equal(t, 2*backoff, time.Since(began), "who polls again at once is held up")
		require.NoError(t, one.Close(t.Context()))
		nothing(t, two, time.Minute)
		require.Equal(t, tps("t-0"), two.Assignment())
	})
}

// TestInitialDelay: members that start within the broker's delay are in one
// generation.
func TestInitialDelay(t *testing.T) {
	timedWith(t, map[string]string{"group.initial.rebalance.delay.ms": "3000"}, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 3)
		var h heard
		l := h.listener()
		times := make(chan time.Time, 10)
		assigned := l.Assigned
		l.Assigned = func(ctx context.Context, list []TopicPartition) { assigned(ctx, list); times <- time.Now() }
		for range 3 {
			c := subscribed(t, b, "g", Options{Listener: l}, "t")
			defer polling(t, c, nil)()
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		require.Equal(t, []string{"assigned t-0", "assigned t-1", "assigned t-2"}, sorted(h.taken()))
		at := <-times
		require.Equal(t, at, <-times, "the coordinator's answers wake")
		require.Equal(t, at, <-times)
	})
}

// TestPollGoesOnWithAJoin: a Poll that ends while the group rebalances does not
// have to begin it again.
func TestPollGoesOnWithAJoin(t *testing.T) {
	timedWith(t, map[string]string{"group.initial.rebalance.delay.ms": "3000"}, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		c := subscribed(t, b, "g", Options{}, "t")
		began := time.Now()
		for range 29 {
			nothing(t, c, 100*time.Millisecond)
		}
		require.Empty(t, c.Assignment())
		nothing(t, c, 200*time.Millisecond)
		require.Equal(t, tps("t-0"), c.Assignment())
		require.Less(t, time.Since(began), 4*time.Second)
	})
}

// TestOffsetsTopicGone: where the groups' own topic is deleted, members begin
// again in another one.
func TestOffsetsTopicGone(t *testing.T) {
	timed(t, func(t *testing.T, b *broker.Broker) {
		create(t, b, "t", 1)
		c := subscribed(t, b, "g", Options{}, "t")
		produce(t, b, "t", 0, "a")
		polled(t, c, 1)
		require.NoError(t, c.CommitSync(t.Context(), nil))
		require.NoError(t, b.DeleteTopic(broker.ConsumerOffsets))
		require.Equal(t, []string{"a"}, polled(t, c, 1), "a heartbeat has found out, and what was committed is gone")
		require.NoError(t, b.DeleteTopic(broker.ConsumerOffsets))
		require.ErrorIs(t, c.CommitSync(t.Context(), nil), ErrCommitFailed)
		polled(t, c, 1)
		require.NoError(t, c.CommitSync(within(t, time.Minute), nil))
		require.EqualValues(t, 1, committed(t, b, "g", "t-0"))
	})
}
