package index

import (
	"encoding/binary"
	"sync/atomic"
)

// table is an append-only array of fixed-size entries in mapped memory.
//
// One writer appends; any number of readers look up without a lock. An entry's
// bytes are stored before the count that publishes them, and a published entry
// never changes: truncate is for tables that no reader can reach.
type table struct {
	// Store, if not nil, is how the memory is stored to: see vfs.Storer. It is set
	// before the first Append.
	Store func(at int64, b []byte)

	mem   []byte
	width int
	cap   int // entries that mem has room for
	n     atomic.Int64
}

// Len is the number of published entries.
func (t *table) Len() int { return int(t.n.Load()) }

// Cap is the number of entries the memory has room for.
func (t *table) Cap() int { return t.cap }

// over makes it one of n entries of that width, in memory for more.
func (t *table) over(mem []byte, width, n int) {
	t.mem, t.width, t.cap = mem, width, len(mem)/width
	t.n.Store(int64(n))
}

// Bytes is the length of the published entries in bytes: the size of the file
// when it is cut to its content.
func (t *table) Bytes() int64 { return t.n.Load() * int64(t.width) }

// slot is the memory of entry i.
func (t *table) slot(i int) []byte { return t.mem[i*t.width : (i+1)*t.width] }

// put32 and put64 store a number at a position in an entry.
func (t *table) put32(slot, at int, v uint32) {
	if at += slot * t.width; t.Store == nil {
		binary.BigEndian.PutUint32(t.mem[at:], v)
	} else {
		t.Store(int64(at), binary.BigEndian.AppendUint32(nil, v))
	}
}

func (t *table) put64(slot, at int, v uint64) {
	if at += slot * t.width; t.Store == nil {
		binary.BigEndian.PutUint64(t.mem[at:], v)
	} else {
		t.Store(int64(at), binary.BigEndian.AppendUint64(nil, v))
	}
}

// floor returns the largest i in [0, n) whose entry is at or below the target,
// or -1. above(i) tells whether entry i is above it and is monotone in i.
func floor(n int, above func(i int) bool) int { return floorBetween(-1, n, above) }

// floorBetween is floor where the entry at lo is known to be at or below the
// target, and the one at hi above it.
func floorBetween(lo, hi int, above func(i int) bool) int {
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if above(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// Content is the memory of the published entries, shared, as the file is when
// it is cut to its content.
func (t *table) Content() []byte { return t.mem[:t.Bytes()] }
