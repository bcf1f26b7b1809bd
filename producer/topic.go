package producer

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// topic is what a producer knows of one topic.
type topic struct {
	name   string
	known  atomic.Pointer[partitions] // nil until the sink has told
	choice atomic.Pointer[choice]     // the adaptive choice at present
	ratio  ratio
	mu     struct {
		sync.Mutex
		fetching bool
		changed  chan struct{} // closed by the end of the next fetch
		err      error         // of the last fetch
		failures int           // in a row
		retryAt  time.Time     // no fetch before, after failures
	}
}

// partitions is a topic's metadata. It does not change; a new one replaces it.
type partitions struct {
	Topic
	leaders []PartitionInfo
	queues  []*queue // may be more than leaders, if the topic was made anew with fewer
	fetched time.Time
}

func newTopic(name string) *topic {
	t := &topic{name: name}
	t.mu.changed = make(chan struct{})
	return t
}

// learn replaces what is known. The queues stay what they were.
func (t *topic) learn(acc *accumulator, infos []PartitionInfo, now time.Time) {
	next := &partitions{Topic: Topic{Name: t.name, Partitions: len(infos)}, leaders: infos, fetched: now}
	if old := t.known.Load(); old != nil {
		next.queues = old.queues
	}
	next.queues = slices.Clip(next.queues)
	for n := len(next.queues); n < len(infos); n++ {
		next.queues = append(next.queues, &queue{acc: acc, topic: t, number: int32(n)})
	}
	for n, info := range infos {
		if !info.Leaderless {
			next.Available = append(next.Available, int32(n))
		}
	}
	t.known.Store(next)
	if c := t.choice.Load(); c != nil && !slices.Contains(next.Available, c.partition) {
		t.choice.CompareAndSwap(c, nil)
	}
}

// leader is who leads partition n now.
func (t *topic) leader(n int32) (node Node, ok bool) {
	known := t.known.Load()
	if int(n) >= len(known.leaders) || known.leaders[n].Leaderless {
		return 0, false
	}
	return known.leaders[n].Leader, true
}
