package vfs

import "io/fs"

// Fork returns a copy of everything as it is now, durable or not, as Kill does;
// m lives on. What is stored through mappings meanwhile may be in it in part.
func (m *Mem) Fork() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.copyLocked()
}

// DropDirty is what a kernel may do after it failed to write a file: it takes
// the pages for clean, and once it has dropped them the file reads as what the
// device holds. The length stays. seed chooses the sectors that it drops; 0
// drops all. No mapping of the file is live.
func (m *Mem) DropDirty(name string, seed uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _ := m.mu.live.find(name)
	switch {
	case n == nil:
		return &fs.PathError{Op: "dropdirty", Path: name, Err: fs.ErrNotExist}
	case n.maps > 0:
		return &fs.PathError{Op: "dropdirty", Path: name, Err: ErrSharing}
	}
	c := newChance(seed, forDropping)
	odds := c.odds()
	for s := range sectors(n.size) {
		from, end := s*sectorSize, min((s+1)*sectorSize, n.size)
		if n.dirty(from, end) && (seed == 0 || c.of(odds)) {
			clear(n.data[from:end])
			if from < int64(len(n.synced)) {
				copy(n.data[from:end], n.synced[from:])
			}
		}
	}
	return nil
}
