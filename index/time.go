package index

import (
	"encoding/binary"
	"fmt"
	"math"
)

// TimeEntrySize is the size in bytes of an entry of the time index.
const TimeEntrySize = 12

const maxInt32 = math.MaxInt32

// TimeEntry says that Timestamp is the largest up to and including the batch
// of Offset.
type TimeEntry struct {
	Timestamp int64 // ms since the Unix epoch; -1 where there is none
	Offset    int64 // absolute
}

// Times is the sparse time index of one segment, with the concurrency of
// Offsets.
type Times struct {
	table
	base int64
}

// NewTimes is the index of the segment based at base, over mem, of which the
// first n entries are in use. mem stays the caller's to unmap.
func NewTimes(base int64, mem []byte, n int) *Times {
	x := &Times{base: base}
	x.over(mem, TimeEntrySize, n)
	return x
}

// Full says that only the slot is left that the closing entry of a segment
// needs (Kafka reserves it too).
func (x *Times) Full() bool { return x.Len() >= x.Cap()-1 }

// At is entry i, 0 <= i < Len.
func (x *Times) At(i int) TimeEntry {
	s := x.slot(i)
	return TimeEntry{
		Timestamp: int64(binary.BigEndian.Uint64(s)),
		Offset:    x.base + int64(int32(binary.BigEndian.Uint32(s[8:]))),
	}
}

// Last is the newest entry, or timestamp -1 at the base where there is none.
func (x *Times) Last() TimeEntry {
	if n := x.Len(); n > 0 {
		return x.At(n - 1)
	}
	return TimeEntry{Timestamp: -1, Offset: x.base}
}

// Floor is the last entry at or below timestamp, and its slot; timestamp -1 at
// the base and -1 where there is none.
func (x *Times) Floor(timestamp int64) (TimeEntry, int) {
	i := floor(x.Len(), func(i int) bool {
		return int64(binary.BigEndian.Uint64(x.slot(i))) > timestamp
	})
	if i < 0 {
		return TimeEntry{Timestamp: -1, Offset: x.base}, -1
	}
	return x.At(i), i
}

// Append adds an entry if its timestamp is above the last one's, and does
// nothing otherwise, as Kafka's maybeAppend.
func (x *Times) Append(e TimeEntry) error {
	last := x.Last()
	if e.Timestamp <= last.Timestamp {
		return nil
	}
	n := x.Len()
	rel := e.Offset - x.base
	switch {
	case n >= x.Cap():
		return fmt.Errorf("index: time index of segment %d is full at %d entries", x.base, n)
	case rel < 0 || rel > maxInt32:
		return fmt.Errorf("index: offset %d does not fit segment %d", e.Offset, x.base)
	case e.Offset < last.Offset:
		return fmt.Errorf("index: offset %d of a later timestamp is below the last entry's %d", e.Offset, last.Offset)
	}
	x.put64(n, 0, uint64(e.Timestamp))
	x.put32(n, 8, uint32(rel))
	x.n.Store(int64(n + 1))
	return nil
}

// Truncate drops the entries of offsets at or above offset. No reader may be
// looking.
func (x *Times) Truncate(offset int64) {
	i := floor(x.Len(), func(i int) bool { return x.At(i).Offset >= offset })
	x.n.Store(int64(i + 1))
}

// Check counts the leading entries that can be true of a segment whose offsets
// are all below next: strictly increasing timestamps, offsets that do not
// decrease.
func (x *Times) Check(next int64) int {
	prev := TimeEntry{Timestamp: -1, Offset: x.base}
	for i := range x.Len() {
		e := x.At(i)
		if e.Timestamp <= prev.Timestamp || e.Offset < prev.Offset || e.Offset >= next {
			return i
		}
		prev = e
	}
	return x.Len()
}
