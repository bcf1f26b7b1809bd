package producer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Keys are placed among all partitions, those without a leader too.
func TestByKeyKnowsNoAvailability(t *testing.T) {
	n, ok := ByKey{}.Partition(Record{Key: []byte("foobar")}, Topic{Partitions: 10, Available: []int32{1}})
	require.True(t, ok)
	require.EqualValues(t, 6, n)
	n, ok = ByKey{}.Partition(Record{Key: []byte{}}, Topic{Partitions: 3})
	require.True(t, ok, "an empty key is a key")
	require.Equal(t, byKey(nil, 3), n)
	_, ok = ByKey{}.Partition(Record{}, Topic{Partitions: 10})
	require.False(t, ok)
}

func TestRoundRobin(t *testing.T) {
	var p RoundRobin
	var got []int32
	for range 7 {
		n, ok := p.Partition(Record{Key: []byte("k")}, Topic{Name: "a", Partitions: 4, Available: []int32{0, 2, 3}})
		require.True(t, ok)
		got = append(got, n)
	}
	require.Equal(t, []int32{0, 2, 3, 0, 2, 3, 0}, got)
	n, _ := p.Partition(Record{}, Topic{Name: "b", Partitions: 4})
	require.EqualValues(t, 0, n, "each topic counts by itself")
}

// Of KIP-480: another partition with each new batch, never twice the same.
func TestSticky(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3)
		p := begin(t, f, Options{Partitioner: &Sticky{}, BatchBytes: 1000, Linger: time.Second})
		var order []int32
		for range 100 {
			d, err := p.SendSync(background, Record{Topic: "t", Value: make([]byte, 950)})
			require.NoError(t, err)
			order = append(order, d.Partition)
		}
		for i := range order[1:] {
			require.NotEqual(t, order[i], order[i+1])
		}
	})
}

// Of KIP-794: a batch's worth of bytes for one partition, then another; all get
// about the same.
func TestAdaptiveSpreadsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(4)
		p := begin(t, f, Options{BatchBytes: 1000, Linger: time.Millisecond})
		bytes, runs, last := make(map[int32]int), 0, int32(-1)
		for i := range 4000 {
			n := 10 + i%90
			future := p.Send(background, Record{Topic: "t", Value: make([]byte, n)})
			bytes[future.b.q.number] += n
			if future.b.q.number != last {
				runs, last = runs+1, future.b.q.number
			}
		}
		require.NoError(t, p.Flush(background))
		for n := range int32(4) {
			require.InDelta(t, 55_000, bytes[n], 20_000, "%v", bytes)
		}
		// Each gets one to two batches' worth at a time.
		total := 4000 * (55 + 36)
		require.Greater(t, runs, total/2000)
		require.Less(t, runs, total/1000)
	})
}

// A partition whose queue is long gets less.
func TestAdaptiveShunsLongQueues(t *testing.T) {
	o, err := Options{}.withDefaults()
	require.NoError(t, err)
	acc, top := newAccumulator(&o, func() {}), newTopic("t")
	top.learn(acc, make([]PartitionInfo, 3), time.Now())
	known := top.known.Load()
	for n, waiting := range []int32{0, 3, 9} { // weights 10, 7, 1
		known.queues[n].waiting.Store(waiting)
	}
	counts := make([]int, 3)
	for range 18_000 {
		counts[acc.nextPartition(known)]++
	}
	for n, want := range []float64{10_000, 7_000, 1_000} {
		require.InDelta(t, want, counts[n], 500, "%v", counts)
	}
}

// A node that takes nothing is left out after AvailabilityTimeout, and comes
// back when it takes something.
func TestAvailabilityTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(2)
		f.partitions[1].Leader = 1
		stuck := true
		f.answer = func(a *asked) {
			if a.node == 1 && stuck {
				hold(a)
			} else {
				a.stored()
			}
		}
		p := begin(t, f, Options{BatchBytes: 300, Linger: NoLinger, MaxInFlight: 2, AvailabilityTimeout: time.Second,
			RequestTimeout: time.Hour, DeliveryTimeout: 2 * time.Hour})
		send := func() (counts [2]int) {
			for range 200 {
				future := p.Send(background, Record{Topic: "t", Value: make([]byte, 250)})
				counts[future.b.q.number]++
				time.Sleep(10 * time.Millisecond)
			}
			return counts
		}
		send()
		require.Zero(t, send()[1])
		stuck = false
		for _, a := range f.got() {
			if a.node == 1 {
				a.stored()
			}
		}
		require.Positive(t, send()[1])
		require.NoError(t, p.Flush(background))
	})
}

func TestLeaderlessPartitionsAreNotChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3)
		f.partitions[1].Leaderless = true
		p := begin(t, f, Options{BatchBytes: 200})
		for range 100 {
			future := p.Send(background, Record{Topic: "t", Value: make([]byte, 150)})
			require.NotEqualValues(t, 1, future.b.q.number)
		}
		require.NoError(t, p.Flush(background))
	})
}

func TestRatio(t *testing.T) {
	var r ratio
	require.EqualValues(t, 1050, r.estimate(1000))
	for _, step := range []struct {
		after int // of 1000
		want  float64
	}{
		{500, 0.995}, {500, 0.990}, {989, 0.989}, {1000, 1.039}, {2000, 2}, {2001, 2.05},
	} {
		r.observe(1000, step.after)
		require.InDelta(t, step.want, r.load(), 1e-9, fmt.Sprint(step))
	}
	r.reset()
	require.InDelta(t, 1, r.load(), 0)
}
