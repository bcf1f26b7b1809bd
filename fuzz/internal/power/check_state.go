package power

import (
	"slices"

	"github.com/seglog/seglog/log"
)

// producers holds what the log knows of each producer against its batches.
func (x *machine) producers() {
	m := x.m
	ids := m.ids()
	list := x.l.Producers()
	for _, have := range list {
		if !slices.Contains(ids, have.ID) {
			x.failf("producer %d is known, and none of its batches is in the log: %+v", have.ID, have)
		}
	}
	for _, id := range ids {
		want := m.producer(id)
		i := slices.IndexFunc(list, func(p log.ProducerState) bool { return p.ID == id })
		inLog := m.has
		if i < 0 {
			if inLog(want.newest) {
				x.failf("producer %d is not known, and its batch %v is in the log", id, want.newest)
			}
			continue
		}
		have := list[i]
		if !inLog(want.newest) && m.compacted > 0 {
			continue // it is as of an older batch, if compaction and a cut took the others
		}
		switch {
		case have.Epoch != want.epoch:
			x.failf("producer %d is at epoch %d, want %d (%+v)", id, have.Epoch, want.epoch, have)
		case have.LastSequence != want.sequence && (inLog(want.data) || have.LastSequence != none && m.compacted == 0):
			x.failf("producer %d is at sequence %d, want %d (%+v)", id, have.LastSequence, want.sequence, have)
		case have.LastOffset != want.offset && (inLog(want.data) || have.LastOffset != none && m.compacted == 0):
			x.failf("producer %d wrote last at offset %d, want %d (%+v)", id, have.LastOffset, want.offset, have)
		case have.CoordinatorEpoch != want.coordinator && (inLog(want.marked) && m.compacted == 0 || have.CoordinatorEpoch != none):
			x.failf("producer %d was marked at coordinator epoch %d, want %d (%+v)", id, have.CoordinatorEpoch, want.coordinator, have)
		case want.txnFirst == none && have.TxnFirst != none, m.hasAt(want.txnFirst) && have.TxnFirst != want.txnFirst:
			x.failf("producer %d has a transaction open since %d, want %d (%+v)", id, have.TxnFirst, want.txnFirst, have)
		case want.txnFirst != none && have.TxnFirst == none && inLog(want.data):
			x.failf("producer %d has no transaction open, want one since %d (%+v)", id, want.txnFirst, have)
		}
	}
}

// epochs holds the history of leader epochs against the batches: an epoch that
// has some ends behind the last of them, and not behind the first of the next.
func (x *machine) epochs() {
	m, live := x.m, x.m.live()
	last := int32(none)
	for i, b := range live {
		if b.epoch < 0 || i+1 < len(live) && live[i+1].epoch == b.epoch {
			continue
		}
		last = max(last, b.epoch)
		known, end, ok := x.l.EndOffsetForEpoch(b.epoch)
		if !ok || known != b.epoch {
			x.failf("where epoch %d ends is not known (%d, %d, %t): %v", b.epoch, known, end, ok, x.l.LeaderEpochs())
		}
		below := m.end
		if i+1 < len(live) {
			below = live[i+1].first
		}
		if end < b.next || end > below {
			x.failf("epoch %d ends at %d, want %d to %d: %v", b.epoch, end, b.next, below, x.l.LeaderEpochs())
		}
	}
	newest := last
	for _, e := range m.begun {
		newest = max(newest, e.epoch)
	}
	if have := x.l.LeaderEpoch(); have < last || have > max(newest, x.epochBelow()) {
		x.failf("the leader epoch is %d, want %d to %d", have, last, newest)
	}
}

// epochBelow is the newest epoch of batches that were dropped.
func (x *machine) epochBelow() int32 {
	newest := int32(none)
	for _, b := range x.m.batches {
		newest = max(newest, b.epoch)
	}
	return newest
}
