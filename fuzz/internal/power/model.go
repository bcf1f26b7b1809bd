package power

import (
	"slices"
)

// rec is a record as it was appended.
type rec struct {
	offset     int64
	ms         int64 // its time, -1 for none
	key, value []byte
	headers    int

	gone bool  // compaction took it
	seen int64 // when a cleaning first covered it (ms), 0 if none did
}

// batch is what one append added: it is there whole or not at all.
type batch struct {
	first, next int64
	recs        []*rec // none in a control batch
	epoch       int32  // the leader's

	pid      int64 // -1 for none
	pepoch   int16
	sequence int32 // of the first record
	txn      bool
	marker   *marker
	control  bool

	pinned bool // compaction left it, be it without a record: a producer's newest
}

// marker ends a producer's transaction.
type marker struct {
	commit      bool
	coordinator int32
}

func (b *batch) lastSequence() int32 { return b.sequence + int32(b.next-b.first) - 1 }

// entry is a leader epoch that was begun.
type entry struct {
	epoch int32
	start int64
}

// model is the log as it must be. batches are all that was appended and not cut,
// those below first included: producers outlive their batches.
type model struct {
	first, end int64
	durable    int64 // promised to survive any power cut
	batches    []*batch
	begun      []entry // by SetLeaderEpoch
	compacted  int64   // what is at or above was never covered by a cleaning

	hw      int64   // a follower's high watermark
	hws     []int64 // those that a checkpoint may have
	told    bool    // a leader: of a high watermark, since it was opened
	decided int64   // where the log ended then
}

func (m *model) append(b *batch) {
	m.batches = append(m.batches, b)
	m.end = b.next
}

// dropBefore makes offset the log start.
func (m *model) dropBefore(offset int64) {
	m.first = max(m.first, offset)
	m.durable = max(m.durable, m.first)
	m.end = max(m.end, m.first)
}

// endBelow is where the log ends once the batch that holds offset is dropped
// with all behind it.
func (m *model) endBelow(offset int64) int64 {
	if offset >= m.end {
		return m.end
	}
	end := m.first
	for _, b := range m.batches {
		if b.next <= offset {
			end = max(end, b.next)
		}
	}
	return end
}

// sureBelow is endBelow as low as it may be where compaction took batches: a log
// does not remember where they ended.
func (m *model) sureBelow(offset int64) int64 {
	end := m.first
	for _, b := range m.batches {
		if b.next <= min(offset, m.end) && m.has(b) {
			end = max(end, b.next)
		}
	}
	return end
}

// cut makes end the log's end.
func (m *model) cut(end int64) {
	m.batches = slices.DeleteFunc(m.batches, func(b *batch) bool { return b.next > end })
	m.begun = slices.DeleteFunc(m.begun, func(e entry) bool { return e.start > end })
	m.end, m.durable = end, min(m.durable, end)
	m.compacted = min(m.compacted, end)
	m.hw, m.decided = min(m.hw, end), min(m.decided, end)
}

// restart empties the log and lets it start at offset, with nothing known of what
// there was.
func (m *model) restart(offset int64) {
	*m = model{first: offset, end: offset, durable: offset, hw: offset, hws: []int64{offset}, told: m.told, decided: offset}
}

// has says whether a batch is in the log for sure: of those that were compacted
// the ones with a record, and those that a producer's state is in.
func (m *model) has(b *batch) bool {
	return b != nil && b.next > m.first && (b.first >= m.compacted || b.pinned || slices.ContainsFunc(b.recs, func(r *rec) bool { return !r.gone && r.offset >= m.first }))
}

// hasAt is has of the batch that begins at an offset.
func (m *model) hasAt(first int64) bool {
	i := slices.IndexFunc(m.batches, func(b *batch) bool { return b.first == first })
	return i >= 0 && first >= m.first && m.has(m.batches[i])
}

// boundary says whether the log may end at offset: where a batch does, or where
// the log starts.
func (m *model) boundary(offset int64) bool {
	return offset == m.first || slices.ContainsFunc(m.batches, func(b *batch) bool { return b.next == offset })
}

// records are those that a reader gets.
func (m *model) records() []*rec {
	var list []*rec
	for _, b := range m.live() {
		for _, r := range b.recs {
			if r.offset >= m.first && !r.gone {
				list = append(list, r)
			}
		}
	}
	return list
}

// live are the batches that reach above the log start.
func (m *model) live() []*batch {
	i, _ := slices.BinarySearchFunc(m.batches, m.first, func(b *batch, first int64) int {
		if b.next <= first {
			return -1
		}
		return 1
	})
	return m.batches[i:]
}
