// Package epochs is a partition's history of leader epochs: which leader's
// records begin where (KIP-101, KIP-279), and its file,
// leader-epoch-checkpoint.
//
// A History is a value of plain data. It is not for concurrent use.
package epochs

import (
	"slices"
)

// Entry says that the records from offset Start on were written by the leader
// of Epoch, up to the Start of the next entry.
type Entry struct {
	Epoch int32
	Start int64
}

// History is the entries in order: epochs and starts both ascend strictly. Its
// zero value is empty.
type History struct {
	entries []Entry
}

// Entries are the history's, oldest first, and must not be changed.
func (h *History) Entries() []Entry { return h.entries }

// Latest is the newest entry; ok is false where there is none.
func (h *History) Latest() (e Entry, ok bool) {
	if len(h.entries) == 0 {
		return Entry{}, false
	}
	return h.entries[len(h.entries)-1], true
}

// Assign notes that the leader of epoch writes from start on, and reports
// whether that is news. What it contradicts goes: entries at the end with an
// epoch or a start not below the new ones. Epochs below 0 are none.
func (h *History) Assign(epoch int32, start int64) bool {
	if epoch < 0 || start < 0 {
		return false
	}
	if e, ok := h.Latest(); ok && e.Epoch == epoch && start >= e.Start {
		return false
	}
	n := len(h.entries)
	for n > 0 && (h.entries[n-1].Epoch >= epoch || h.entries[n-1].Start >= start) {
		n--
	}
	h.entries = append(h.entries[:n:n], Entry{epoch, start})
	return true
}

// TruncateFromEnd forgets the entries that start at or above end, the log's new
// end, and reports whether there were any.
func (h *History) TruncateFromEnd(end int64) bool {
	n := len(h.entries)
	for n > 0 && h.entries[n-1].Start >= end {
		n--
	}
	changed := n < len(h.entries)
	h.entries = h.entries[:n:n]
	return changed
}

// TruncateFromStart forgets what lies below start, the log's new start: the
// entry in force there then begins at it. It reports whether that changed
// anything.
func (h *History) TruncateFromStart(start int64) bool {
	n := 0
	for n < len(h.entries) && h.entries[n].Start <= start {
		n++
	}
	if n == 0 || n == 1 && h.entries[0].Start == start {
		return false
	}
	h.entries = slices.Clone(h.entries[n-1:])
	h.entries[0].Start = start
	return true
}

// Clear forgets everything.
func (h *History) Clear() { h.entries = nil }

// EndOffset answers a follower that asks where an epoch ended (the API
// OffsetForLeaderEpoch): the largest epoch known that is not above the one
// asked for, and the offset after its last record. end is the log's. ok is
// false where the history cannot tell: it is empty, or the epoch is above all
// of it.
func (h *History) EndOffset(epoch int32, end int64) (known int32, offset int64, ok bool) {
	latest, any := h.Latest()
	switch {
	case !any || epoch < 0 || epoch > latest.Epoch:
		return 0, 0, false
	case epoch == latest.Epoch:
		return epoch, end, true
	}
	above, _ := slices.BinarySearchFunc(h.entries, epoch, func(e Entry, epoch int32) int {
		if e.Epoch <= epoch {
			return -1
		}
		return 1
	})
	if above == 0 {
		return epoch, h.entries[0].Start, true
	}
	return h.entries[above-1].Epoch, h.entries[above].Start, true
}

// At is the epoch of the record at offset, -1 where the history does not reach.
func (h *History) At(offset int64) int32 {
	epoch := int32(-1)
	for _, e := range h.entries {
		if e.Start > offset {
			break
		}
		epoch = e.Epoch
	}
	return epoch
}
