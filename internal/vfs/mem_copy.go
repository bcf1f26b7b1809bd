package vfs

import "slices"

// die ends m and returns a deep copy of it as it was.
func (m *Mem) die() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.mu.dead {
		m.detachLocked()
		m.mu.dead = true
	}
	return m.copyLocked()
}

// copyLocked is a deep copy of m. Nobody holds a lock, a file or a mapping in
// it.
func (m *Mem) copyLocked() *Mem {
	copies := map[*memNode]*memNode{}
	copyOf := func(n *memNode) *memNode {
		if n == nil {
			return nil
		}
		if copies[n] == nil {
			copies[n] = n.copy()
		}
		return copies[n]
	}
	w := &Mem{Now: m.Now, Unit: m.Unit}
	w.mu.limit, w.mu.nodes, w.mu.machine, w.mu.boots = m.mu.limit, m.mu.nodes, m.mu.machine, m.mu.boots
	w.mu.live = m.mu.live.copy(copyOf)
	w.mu.durable = m.mu.durable.copy(copyOf)
	for _, c := range m.mu.pending {
		w.mu.pending = append(w.mu.pending, nameChange{
			copyOf(c.node), place{copyOf(c.from.dir), c.from.name}, place{copyOf(c.to.dir), c.to.name},
		})
	}
	for _, n := range w.mu.live.nodes() {
		w.mu.used += n.room
	}
	return w
}

// detachLocked parts the files of m from their mappings, so that a process
// that does not know yet that it is dead cannot change what m was.
func (m *Mem) detachLocked() {
	detach := func(n *memNode) { n.data = cloneUnseen(n.data[:n.size]) }
	for _, n := range m.mu.live.nodes() {
		detach(n)
	}
	for _, n := range m.mu.durable.nodes() {
		if !m.mu.live.has(n) {
			detach(n)
		}
	}
	for _, c := range m.mu.pending {
		if !m.mu.live.has(c.node) && !m.mu.durable.has(c.node) {
			detach(c.node)
		}
	}
}

// copy is a node of its own, neither open, nor mapped, nor locked.
func (n *memNode) copy() *memNode {
	return &memNode{
		number: n.number, mode: n.mode, modified: n.modified,
		data: cloneUnseen(n.data[:n.size]), size: n.size,
		taken: slices.Clone(n.taken), room: n.room,
		synced: slices.Clone(n.synced), syncedSize: n.syncedSize,
	}
}

// copy is a tree of the same places over the nodes that of gives.
func (t tree) copy(of func(*memNode) *memNode) tree {
	c := newTree(of(t.root))
	for n, p := range t.at {
		c.put(of(n), place{of(p.dir), p.name})
	}
	return c
}

func cloneUnseen(b []byte) []byte {
	c := make([]byte, len(b))
	copyUnseen(c, b)
	return c
}
