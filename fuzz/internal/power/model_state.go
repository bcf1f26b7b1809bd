package power

import "slices"

// none stands for an epoch, a sequence or an offset that is not there.
const none = -1

// producer is what a log must know of a producer id whose newest batch it has.
type producer struct {
	pid         int64
	epoch       int16
	sequence    int32 // of the last record, none after a new epoch
	offset      int64 // of the last record
	coordinator int32
	txnFirst    int64
	newest      *batch // of any kind
	data        *batch // the newest with records, of this epoch
	marked      *batch // the newest marker
}

// producer derives the state of an id from all batches.
func (m *model) producer(pid int64) producer {
	p := producer{pid: pid, epoch: none, sequence: none, offset: none, coordinator: none, txnFirst: none}
	for _, b := range m.batches {
		if b.pid != pid {
			continue
		}
		p.newest = b
		if b.pepoch != p.epoch {
			p.epoch, p.sequence, p.offset, p.data = b.pepoch, none, none, nil
		}
		if b.marker != nil {
			p.coordinator, p.txnFirst, p.marked = b.marker.coordinator, none, b
			continue
		}
		p.sequence, p.offset, p.data = b.lastSequence(), b.next-1, b
		if b.txn && p.txnFirst == none {
			p.txnFirst = b.first
		}
	}
	return p
}

// ids are the producers that have batches.
func (m *model) ids() (ids []int64) {
	for _, b := range m.batches {
		if b.pid >= 0 && !slices.Contains(ids, b.pid) {
			ids = append(ids, b.pid)
		}
	}
	return ids
}

// txn is a transaction; last is the offset of its marker, none if it is open.
type txn struct {
	pid         int64
	first, last int64
	aborted     bool
}

// txns derives all transactions, by their start.
func (m *model) txns() []txn {
	var list []txn
	open := map[int64]int{}
	for _, b := range m.batches {
		i, isOpen := open[b.pid]
		switch {
		case b.marker != nil && isOpen:
			list[i].last, list[i].aborted = b.first, !b.marker.commit
			delete(open, b.pid)
		case b.marker == nil && b.txn && !isOpen:
			open[b.pid] = len(list)
			list = append(list, txn{pid: b.pid, first: b.first, last: none})
		}
	}
	return list
}

// undecided says whether a transaction is open, or ended by a marker that is not
// below the high watermark. What ended before a leader was told of a high
// watermark is decided: until then it was its only replica.
func (m *model) undecided(t txn, hw int64) bool {
	return t.last == none || t.last >= max(hw, m.decided)
}

// unstable is the start of the earliest transaction that is not decided, hw where
// there is none.
func (m *model) unstable(hw int64) int64 {
	for _, t := range m.txns() {
		if m.undecided(t, hw) {
			return min(t.first, hw)
		}
	}
	return hw
}

// isAborted says whether a batch belongs to an aborted transaction.
func isAborted(txns []txn, b *batch) bool {
	return b.txn && b.marker == nil && slices.ContainsFunc(txns, func(t txn) bool {
		return t.aborted && t.pid == b.pid && t.first <= b.first && b.first < t.last
	})
}

// isDecided says whether a batch belongs to no transaction, or to one that ended.
func isDecided(txns []txn, b *batch) bool {
	return !b.txn || slices.ContainsFunc(txns, func(t txn) bool {
		return t.last != none && t.pid == b.pid && t.first <= b.first && b.first <= t.last
	})
}
