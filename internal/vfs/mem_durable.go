package vfs

import "slices"

// nameChange is a creation (from nowhere), a rename or a removal (to nowhere).
type nameChange struct {
	node     *memNode
	from, to place
}

// apply makes the change in t, where earlier changes may be missing: it says
// where its node is from now on, and nothing about others but the one it
// replaces.
func (c nameChange) apply(t tree) {
	if c.to.dir == nil {
		t.drop(c.node)
	} else {
		t.put(c.node, c.to)
	}
}

// changeLocked makes a change live, and leaves it to be made durable.
func (m *Mem) changeLocked(c nameChange) {
	c.apply(m.mu.live)
	m.mu.pending = append(m.mu.pending, c)
}

// settleNamesLocked makes pending changes durable: the chosen ones, and what
// happened before to the same nodes, which could otherwise undo them later.
func (m *Mem) settleNamesLocked(chosen func(nameChange) bool) {
	settle := make([]bool, len(m.mu.pending))
	nodes := map[*memNode]bool{}
	for i, c := range slices.Backward(m.mu.pending) {
		settle[i] = chosen(c) || nodes[c.node]
		nodes[c.node] = settle[i]
	}
	var left []nameChange
	for i, c := range m.mu.pending {
		if settle[i] {
			c.apply(m.mu.durable)
		} else {
			left = append(left, c)
		}
	}
	m.mu.pending = left
}

// sync makes contents and length durable.
func (n *memNode) sync() {
	if int64(cap(n.synced)) < n.size {
		n.synced = make([]byte, n.size, len(n.data))
	}
	n.synced = n.synced[:n.size]
	copyUnseen(n.synced, n.data)
	n.syncedSize = n.size
}

// dirty tells whether [from, end) of data differs from what the device holds.
func (n *memNode) dirty(from, end int64) bool {
	return end > int64(len(n.synced)) || !equalUnseen(n.synced[from:end], n.data[from:end])
}

// write puts [from, end) of data on the device. The length stays.
func (n *memNode) write(from, end int64) {
	if missing := end - int64(len(n.synced)); missing > 0 {
		n.synced = append(n.synced, make([]byte, missing)...)
	}
	copyUnseen(n.synced[from:end], n.data[from:end])
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
