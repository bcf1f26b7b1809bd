package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrCrashed is what a Mem and its files answer after Crash or Kill.
var ErrCrashed = errors.New("the machine of this file system has crashed")

// Mem is a file system in memory for tests. It keeps the contract of FS,
// mappings included, and remembers what a power cut could take back: see Crash.
//
// A file's memory must not move while it is mapped, so the longest mapping of
// a file is made first, and a mapped file does not grow beyond it. That much
// memory is set aside: keep capacities small.
//
// Absolute and relative names start at the same root. There are no permissions.
type Mem struct {
	// These are set before first use, and passed on by Crash and Kill.

	// Now is the clock of modification times; nil is time.Now.
	Now func() time.Time
	// Unit is what a Crash and a Writeback keep whole of a file: SectorSize, which
	// is what 0 stands for, or a multiple of it, PageSize say.
	Unit int64

	// OnStore, if set, is called before each store into a mapping and each write,
	// with no lock held: see Store. It is not passed on.
	OnStore func(Store)

	// mu guards everything, the nodes included; nothing is called with it held.
	mu struct {
		sync.Mutex
		live    tree
		durable tree
		pending []nameChange // made live, not durable; oldest first
		nodes   int          // made so far
		limit   int64
		used    int64
		dead    bool
		machine uint32 // a number of its own, which copies of the machine keep
		boots   uint32 // how often the power was cut
	}
}

var machines atomic.Uint32

// NewMem is an empty file system without a limit.
func NewMem() *Mem {
	m := &Mem{}
	root := m.newNodeLocked(fs.ModeDir | 0o755)
	m.mu.live, m.mu.durable = newTree(root), newTree(root)
	m.mu.machine = machines.Add(1)
	return m
}

func (m *Mem) newNodeLocked(mode fs.FileMode) *memNode {
	m.mu.nodes++
	return &memNode{number: m.mu.nodes, mode: mode, modified: m.now()}
}

func (m *Mem) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// SetLimit sets how many bytes all files together may occupy, counted in
// sectors; 0 is no limit. Writes, allocations and new files
// beyond it fail whole, with ENOSPC. Holes occupy nothing, and a removed file
// does until it is neither open nor mapped.
func (m *Mem) SetLimit(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.limit = bytes
}

// Used is how many bytes all files occupy, as SetLimit counts.
func (m *Mem) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.used
}

// OpenFile implements FS.
func (m *Mem) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.openLocked(name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &memFile{m: m, n: n, name: name, writable: flag&(os.O_RDWR|os.O_WRONLY) != 0}, nil
}

func (m *Mem) openLocked(name string, flag int, perm fs.FileMode) (*memNode, error) {
	if m.mu.dead {
		return nil, ErrCrashed
	}
	n, p := m.mu.live.find(name)
	switch {
	case n == nil && (flag&os.O_CREATE == 0 || p.dir == nil):
		return nil, fs.ErrNotExist
	case n == nil && m.mu.limit > 0 && m.mu.used >= m.mu.limit:
		return nil, syscall.ENOSPC
	case n == nil:
		n = m.newNodeLocked(perm.Perm())
		m.changeLocked(nameChange{node: n, to: p})
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, fs.ErrExist
	case n.isDir():
		return nil, syscall.EISDIR
	case flag&os.O_TRUNC != 0:
		m.resizeLocked(n, 0)
	}
	n.opens++
	return n, nil
}

// Lock implements FS. The only process there is holds every lock.
func (m *Mem) Lock(name string) (io.Closer, error) {
	f, err := m.lock(name)
	if err != nil {
		return nil, err
	}
	writePID(f)
	return f, nil
}

func (m *Mem) lock(name string) (*memFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.openLocked(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	if n.locked {
		n.opens--
		return nil, &LockedError{Path: name, PID: os.Getpid()}
	}
	n.locked = true
	return &memFile{m: m, n: n, name: name, writable: true, locks: true}, nil
}

// resizeLocked sets a file's length. The caller has reserved the memory.
func (m *Mem) resizeLocked(n *memNode, size int64) {
	before := n.room
	n.resize(size)
	n.modified = m.now()
	m.mu.used += n.room - before
}

// takeLocked gives room to [from, end) of a file, all of it or none.
func (m *Mem) takeLocked(n *memNode, from, end int64) error {
	need := n.holes(from, end)
	if m.mu.limit > 0 && need > 0 && m.mu.used+need > m.mu.limit {
		return syscall.ENOSPC
	}
	n.take(from, end)
	m.mu.used += need
	return nil
}

// releaseLocked gives back the room of a file that nobody can reach any more.
func (m *Mem) releaseLocked(n *memNode) {
	if n.opens > 0 || n.maps > 0 || m.mu.live.has(n) {
		return
	}
	m.mu.used -= n.room
	n.room, n.taken = 0, nil
}
