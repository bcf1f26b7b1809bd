package producer

import (
	"math/rand/v2"
	"sync"
)

// Partitioner chooses partitions. It is called by Send, concurrently.
type Partitioner interface {
	// Partition chooses one of the topic's partitions for r, which names none.
	// Where ok is false it is left to the adaptive choice of KIP-794: one
	// partition at a time until it got a batch's worth, the next one by how
	// few batches wait for it.
	Partition(r Record, t Topic) (n int32, ok bool)
}

// Topic is what a Partitioner chooses from.
type Topic struct {
	Name       string
	Partitions int
	Available  []int32 // those with a leader; not to be changed
}

// ByKey is the default: a record with a key goes where Kafka's Java clients
// would put it, and one without is left to the adaptive choice.
type ByKey struct{}

// Partition implements Partitioner.
func (ByKey) Partition(r Record, t Topic) (int32, bool) {
	if r.Key == nil {
		return 0, false
	}
	return byKey(r.Key, t.Partitions), true
}

func byKey(key []byte, partitions int) int32 {
	return int32((uint32(Murmur2(key)) & 0x7fffffff) % uint32(partitions))
}

// Adaptive leaves every record to the adaptive choice, those with a key too
// (partitioner.ignore.keys).
type Adaptive struct{}

// Partition implements Partitioner.
func (Adaptive) Partition(Record, Topic) (int32, bool) { return 0, false }

// PartitionerFunc is a function as a Partitioner.
type PartitionerFunc func(r Record, t Topic) (n int32, ok bool)

// Partition implements Partitioner.
func (f PartitionerFunc) Partition(r Record, t Topic) (int32, bool) { return f(r, t) }

// RoundRobin gives each available partition of a topic a record in turn. The
// zero value works; it is not to be copied after use.
type RoundRobin struct {
	mu   sync.Mutex
	next map[string]uint32
}

// Partition implements Partitioner.
func (p *RoundRobin) Partition(_ Record, t Topic) (int32, bool) {
	p.mu.Lock()
	if p.next == nil {
		p.next = make(map[string]uint32)
	}
	n := p.next[t.Name]
	p.next[t.Name] = n + 1
	p.mu.Unlock()
	if len(t.Available) > 0 {
		return t.Available[n%uint32(len(t.Available))], true
	}
	return int32(n % uint32(t.Partitions)), true
}

// BatchObserver is a Partitioner that wants to know when a record that it placed
// would begin a new batch: it is then asked once more.
type BatchObserver interface {
	Partitioner
	// NewBatch is called before a batch is begun in partition n.
	NewBatch(t Topic, n int32)
}

// Sticky puts records without a key into one random partition until a batch
// there is full, then into another (KIP-480). The zero value works; it is not
// to be copied after use.
type Sticky struct {
	mu      sync.Mutex
	current map[string]int32
}

// Partition implements Partitioner.
func (p *Sticky) Partition(r Record, t Topic) (int32, bool) {
	if r.Key != nil {
		return byKey(r.Key, t.Partitions), true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.current[t.Name]
	if !ok || int(n) >= t.Partitions {
		n = p.chooseLocked(t, -1)
	}
	return n, true
}

// NewBatch implements BatchObserver.
func (p *Sticky) NewBatch(t Topic, n int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current[t.Name] == n { // else somebody was first
		p.chooseLocked(t, n)
	}
}

// chooseLocked chooses any partition but one, if there is another.
func (p *Sticky) chooseLocked(t Topic, but int32) (n int32) {
	if p.current == nil {
		p.current = make(map[string]int32)
	}
	n = but
	switch free := t.Available; {
	case len(free) == 1:
		n = free[0]
	case len(free) > 1:
		for n == but {
			n = free[rand.IntN(len(free))]
		}
	case but < 0 || t.Partitions > 1:
		for n == but {
			n = rand.Int32N(int32(t.Partitions))
		}
	}
	p.current[t.Name] = n
	return n
}
