package index

import (
	"encoding/binary"
	"fmt"
)

// OffsetEntrySize is the size in bytes of an entry of the offset index.
const OffsetEntrySize = 8

// OffsetEntry leads from an offset to a byte position in the segment's log.
type OffsetEntry struct {
	Offset   int64 // absolute: last offset of a batch (or of a set of batches)
	Position int64 // where that batch (or set) starts
}

// Offsets is the sparse offset index of one segment.
//
// Append and Truncate are the writer's; everything else may be called by any
// number of goroutines at the same time as Append.
type Offsets struct {
	table
	base int64
}

// NewOffsets is the index of the segment based at base, over mem, of which the
// first n entries are in use. mem stays the caller's to unmap.
func NewOffsets(base int64, mem []byte, n int) *Offsets {
	x := &Offsets{base: base}
	x.over(mem, OffsetEntrySize, n)
	return x
}

// Full says that no further entry fits.
func (x *Offsets) Full() bool { return x.Len() >= x.Cap() }

// At is entry i, 0 <= i < Len.
func (x *Offsets) At(i int) OffsetEntry {
	s := x.slot(i)
	return OffsetEntry{
		Offset:   x.base + int64(int32(binary.BigEndian.Uint32(s))),
		Position: int64(int32(binary.BigEndian.Uint32(s[4:]))),
	}
}

// Last is the newest entry, or the segment's start where there is none.
func (x *Offsets) Last() OffsetEntry {
	if n := x.Len(); n > 0 {
		return x.At(n - 1)
	}
	return OffsetEntry{Offset: x.base}
}

// rel is the offset of entry i, relative to the base.
func (x *Offsets) rel(i int) int64 {
	return int64(int32(binary.BigEndian.Uint32(x.mem[i*OffsetEntrySize:])))
}

// Floor is the last entry at or below offset, and its slot; the segment's
// start and -1 where there is none.
func (x *Offsets) Floor(offset int64) (OffsetEntry, int) {
	i := x.floor(offset-x.base, x.Len())
	if i < 0 {
		return OffsetEntry{Offset: x.base}, -1
	}
	return x.At(i), i
}

// floor guesses, since batches are often alike and the entries then lie on a line,
// and looks from there in steps that double: a few probes next to each other where
// a binary search misses the cache with each. Where the guess is bad it takes
// twice the probes of that.
func (x *Offsets) floor(rel int64, n int) int {
	if n == 0 || rel < x.rel(0) {
		return -1
	}
	first, last := x.rel(0), x.rel(n-1)
	if rel >= last {
		return n - 1
	}
	at := min(max(int((rel-first)*int64(n-1)/max(last-first, 1)), 0), n-1)
	lo, hi := -1, n // the entry at lo is at or below, the one at hi above
	if x.rel(at) <= rel {
		lo = at
		for step := 1; lo+step < n; step *= 2 {
			if x.rel(lo+step) > rel {
				hi = lo + step
				break
			}
			lo += step
		}
	} else {
		hi = at
		for step := 1; hi-step >= 0; step *= 2 {
			if x.rel(hi-step) <= rel {
				lo = hi - step
				break
			}
			hi -= step
		}
	}
	return floorBetween(lo, hi, func(i int) bool { return x.rel(i) > rel })
}

// Append adds an entry. The offset must be above the last one's and within
// int32 of the base, the position within int32, and there must be room.
func (x *Offsets) Append(e OffsetEntry) error {
	n := x.Len()
	rel := e.Offset - x.base
	switch {
	case n >= x.Cap():
		return fmt.Errorf("index: offset index of segment %d is full at %d entries", x.base, n)
	case rel < 0 || rel > maxInt32 || e.Position < 0 || e.Position > maxInt32:
		return fmt.Errorf("index: offset %d at position %d does not fit segment %d", e.Offset, e.Position, x.base)
	case n > 0 && e.Offset <= x.At(n-1).Offset:
		return fmt.Errorf("index: offset %d is not above the last entry's %d", e.Offset, x.At(n-1).Offset)
	}
	x.put32(n, 0, uint32(rel))
	x.put32(n, 4, uint32(e.Position))
	x.n.Store(int64(n + 1))
	return nil
}

// Truncate drops the entries at or above offset. No reader may be looking.
func (x *Offsets) Truncate(offset int64) {
	_, i := x.Floor(offset - 1)
	x.n.Store(int64(i + 1))
}

// Check counts the leading entries that can be true of a log of size bytes
// whose offsets are all below next: strictly increasing offsets and positions,
// inside both. Anything after them, zero padding or nonsense, is not an entry.
// The batch at position 0 never has one, so padding alone is none either.
func (x *Offsets) Check(size, next int64) int {
	prev := OffsetEntry{Offset: x.base - 1, Position: 0}
	for i := range x.Len() {
		e := x.At(i)
		if e.Offset <= prev.Offset || e.Position <= prev.Position || e.Offset >= next || e.Position >= size {
			return i
		}
		prev = e
	}
	return x.Len()
}
