package group

import (
	"container/heap"
	"time"
)

// timer is something to be done at a time. What it does looks whether it still
// has to be done: timers are not taken back.
type timer struct {
	at   time.Time
	seq  uint64
	fire func(now time.Time)
}

// timers are a heap by time; those of the same time fire as they were set.
type timers struct {
	heap []timer
	seq  uint64
}

func (t *timers) Len() int      { return len(t.heap) }
func (t *timers) Swap(i, j int) { t.heap[i], t.heap[j] = t.heap[j], t.heap[i] }
func (t *timers) Push(x any)    { t.heap = append(t.heap, x.(timer)) }
func (t *timers) Less(i, j int) bool {
	a, b := t.heap[i], t.heap[j]
	return a.at.Before(b.at) || a.at.Equal(b.at) && a.seq < b.seq
}

func (t *timers) Pop() any {
	last := t.heap[len(t.heap)-1]
	t.heap[len(t.heap)-1] = timer{}
	t.heap = t.heap[:len(t.heap)-1]
	return last
}

func (t *timers) set(at time.Time, fire func(now time.Time)) {
	t.seq++
	heap.Push(t, timer{at, t.seq, fire})
}

// Next is when Tick has something to do, if there is such a time. Any call may
// make it earlier.
func (c *Coordinator) Next() (at time.Time, ok bool) {
	if len(c.timers.heap) == 0 {
		return time.Time{}, false
	}
	return c.timers.heap[0].at, true
}

// Tick does what is due: sessions expire, rebalances go on without members that
// did not come, old offsets are deleted.
func (c *Coordinator) Tick(now time.Time) {
	c.now = now
	for len(c.timers.heap) > 0 && !c.timers.heap[0].at.After(now) {
		t := heap.Pop(&c.timers).(timer)
		t.fire(now)
	}
}
