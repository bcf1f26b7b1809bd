package vfs

// memMapping is the memory of a file.
type memMapping struct {
	f   *memFile
	n   *memNode
	mem []byte
}

func (mm *memMapping) Bytes() []byte { return mm.mem }

// Store implements Storer.
func (mm *memMapping) Store(at int64, b []byte) {
	if m := mm.f.m; m.OnStore != nil {
		m.OnStore(Store{Name: mm.f.name, At: at, Bytes: b, f: mm.f, mapped: mm})
	}
	mm.store(at, b)
}

func (mm *memMapping) store(at int64, b []byte) {
	mm.n.tell(at, b)
	copy(mm.mem[at:], b)
}

// Unmap works in a crashed Mem, too: its process still cleans up.
func (mm *memMapping) Unmap() error {
	m := mm.f.m
	m.mu.Lock()
	defer m.mu.Unlock()
	mm.n.unmap()
	m.releaseLocked(mm.n)
	return nil
}
