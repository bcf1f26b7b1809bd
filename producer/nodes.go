package producer

import (
	"sync"
	"time"
)

// nodes is when each node had batches ready, and took some, last: one that has
// them ready for AvailabilityTimeout and takes none is not chosen freely.
type nodes struct {
	patience time.Duration // 0: endless
	mu       sync.Mutex
	seen     map[Node]nodeTimes
}

type nodeTimes struct{ ready, drained time.Time }

func (n *nodes) note(node Node, change func(*nodeTimes)) {
	if n.patience == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = make(map[Node]nodeTimes)
	}
	t := n.seen[node]
	change(&t)
	n.seen[node] = t
}

// ready notes that a node has something waiting, drained that it took it.
func (n *nodes) ready(node Node, now time.Time) {
	n.note(node, func(t *nodeTimes) {
		if t.ready = now; t.drained.IsZero() {
			t.drained = now
		}
	})
}

func (n *nodes) drained(node Node, now time.Time) {
	n.note(node, func(t *nodeTimes) { t.ready, t.drained = now, now })
}

// shunned says that a node has not taken anything for too long.
func (n *nodes) shunned(node Node) bool {
	if n.patience == 0 {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.seen[node]
	return t.ready.Sub(t.drained) > n.patience
}
