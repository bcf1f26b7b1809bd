//go:build !linux

package vfs

import (
	"os"
	"sync"

	"github.com/edsrzf/mmap-go"
)

// mappings are the writable mappings a file made and that are not unmapped.
// Syncing a file need not write what was stored through them.
type mappings struct {
	mu struct {
		sync.Mutex // held while flushing: what is flushed must stay mapped
		live       []mmap.MMap
	}
}

func (m *mappings) add(mem mmap.MMap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.live = append(m.mu.live, mem)
}

func (m *mappings) remove(mem mmap.MMap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, l := range m.mu.live {
		if &l[0] == &mem[0] {
			m.mu.live = append(m.mu.live[:i], m.mu.live[i+1:]...)
			return
		}
	}
}

func (m *mappings) sync(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mem := range m.mu.live {
		within := min(int64(len(mem)), info.Size()) // nothing to write past the end
		if within == 0 {
			continue
		}
		flushed := mem[:within]
		if err := uninterrupted(flushed.Flush); err != nil {
			return err
		}
	}
	return f.Sync()
}

func (f *osFile) WriteBack(from, end int64) {}
