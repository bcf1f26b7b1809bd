package vfs

import (
	"fmt"
	"math/rand/v2"
)

// Crash cuts the power and returns what a restarted machine may find. Made
// durable, and there for certain, are contents and length of a file as of its
// last Sync, and the names of a directory as of its last SyncDir. Of the rest,
// seed chooses, each by itself:
//
//   - which sectors (or pages: see Unit) that differ from the durable ones, by
//     whatever means they were stored, reached the device;
//   - which lengths did, and for a file that grew also some length between;
//   - which creations, renames and removals did, each whole. A file whose name
//     survives has what survives of its contents.
//
// The order in which things were done means nothing. Bytes within a surviving
// length whose sector did not make it are the durable ones, or zero.
//
// Nobody holds a lock in the result, and all in it is durable. m is dead and
// stays as it was: it, its files and its mappings do not reach the result, and
// Crash of the same m with the same seed is the same again.
func (m *Mem) Crash(seed uint64) *Mem {
	w := m.die()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.boots++
	c := newChance(seed, forCrash)
	for _, change := range w.mu.pending {
		if c.coin() {
			change.apply(w.mu.durable)
		}
	}
	w.mu.pending = nil
	w.mu.live = w.mu.durable.copy(func(n *memNode) *memNode { return n })
	w.mu.used = 0
	for _, n := range w.mu.live.nodes() {
		if !n.isDir() {
			n.lose(c, w.unit())
		}
		w.mu.used += n.room
	}
	return w
}

// Kill ends the process only: everything live is there in the result, durable
// or not, and nobody holds a lock. m is dead as after Crash.
func (m *Mem) Kill() *Mem { return m.die() }

// Boot implements FS: each Crash is the end of one. All have the same length, so
// that a seed means the same from run to run.
func (m *Mem) Boot(string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("mem-%08x.%08x", m.mu.machine, m.mu.boots)
}

// Reboot is a Kill by a restart of the machine, before which everything had
// reached the device.
func (m *Mem) Reboot() *Mem {
	w := m.die()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.boots++
	return w
}

// Writeback is the kernel writing some of what is dirty, unasked: a seeded
// choice of sectors, lengths and names becomes durable as it is now. Without
// it, only versions that were synced or the last could survive a Crash.
func (m *Mem) Writeback(seed uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := newChance(seed, forWriteback)
	m.settleNamesLocked(func(nameChange) bool { return c.coin() })
	for _, n := range m.mu.live.nodes() {
		if !n.isDir() {
			n.keepLength(n.writeSome(c, m.unit()))
		}
	}
}

// lose replaces a file's contents by what the device holds after the crash.
func (n *memNode) lose(c chance, unit int64) {
	size := n.writeSome(c, unit)
	n.data = make([]byte, size)
	copy(n.data, n.synced)
	n.size = size
	taken := n.taken
	n.taken, n.room = nil, 0
	for s := range sectors(size) {
		from, end := s*sectorSize, min((s+1)*sectorSize, size)
		if s < int64(len(taken)) && taken[s] || !isZero(n.data[from:end]) {
			n.take(from, end)
		}
	}
	n.sync()
}

func (m *Mem) unit() int64 { return max(m.Unit, SectorSize) }

// writeSome puts some dirty units on the device, and returns the length that
// goes with them.
func (n *memNode) writeSome(c chance, unit int64) (size int64) {
	odds := c.odds()
	for from := int64(0); from < n.size; from += unit {
		if end := min(from+unit, n.size); n.dirty(from, end) && c.of(odds) {
			n.write(from, end)
		}
	}
	size = n.syncedSize
	if size != n.size && c.coin() {
		size = n.size
	}
	if n.size > n.syncedSize && c.of(0.25) {
		size = n.syncedSize + c.r.Int64N(n.size-n.syncedSize)
	}
	return size
}

// keepLength makes a length durable. Bytes that are cut do not come back.
func (n *memNode) keepLength(size int64) {
	if size < n.syncedSize {
		n.synced = n.synced[:min(size, int64(len(n.synced)))]
	}
	n.syncedSize = size
}

// chance is where all choices of one crash come from.
type chance struct{ r *rand.Rand }

// The same seed means other choices to a Crash, a Writeback and a DropDirty.
const (
	forCrash = iota
	forWriteback
	forDropping
	forTear
)

func newChance(seed, purpose uint64) chance { return chance{rand.New(rand.NewPCG(seed, purpose))} }

func (c chance) coin() bool           { return c.r.IntN(2) == 0 }
func (c chance) of(odds float64) bool { return c.r.Float64() < odds }

// odds are those of the sectors of one file: often all of them or none.
func (c chance) odds() float64 {
	switch c.r.IntN(4) {
	case 0:
		return 0
	case 1:
		return 1
	default:
		return c.r.Float64()
	}
}
