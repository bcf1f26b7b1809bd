package log

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/record"
)

// state is what a log knows of its batches beside where they are. All of it is
// derived from them; mu guards it.
type state struct {
	producers producers.Table
	epochs    epochs.History
	aborted   []index.AbortedTxn // by marker; never changed in place: readers have it
	// led is the newest leader epoch there was, 0 for none. A cut may drop all that
	// it wrote, but whoever led still does: batches begun here carry it, or an older
	// epoch would follow it in the files.
	led int32
}

// noted is a state that was made durable, as checkpoints refer to it.
type noted struct {
	at       int64  // as of this offset
	count    int    // of producers; their state is in at's snapshot file
	snapshot uint64 // xxhash64 of that file, 0 for none
	ended    int    // transactions that ended below at and above the high watermark
	aborts
}

// aborts is what is noted of aborted transactions.
type aborts struct {
	aborted int
	sum     uint64 // xxhash64 of their entries, 0 for none
}

// abortsOf is what is noted of those in the list whose markers are in [from, end).
func abortsOf(list []index.AbortedTxn, from, end int64) (n aborts) {
	var entries []byte
	for _, a := range list {
		if a.Last >= from && a.Last < end {
			entries = index.AppendTxn(entries, a)
			n.aborted++
		}
	}
	if n.aborted > 0 {
		n.sum = xxhash.Sum64(entries)
	}
	return n
}

// epochsSum is the xxhash64 of the part of a history that is in [start, end).
func epochsSum(h epochs.History, start, end int64) uint64 {
	h.TruncateFromEnd(end)
	h.TruncateFromStart(start)
	return xxhash.Sum64(h.Encode())
}

// latestEpoch is the newest leader epoch, -1 for none.
func (s *state) latestEpoch() int32 {
	if e, ok := s.epochs.Latest(); ok {
		return e.Epoch
	}
	return -1
}

// assign notes that the leader of epoch writes from start on, and reports whether
// that is news.
func (s *state) assign(epoch int32, start int64) bool {
	s.led = max(s.led, epoch)
	return s.epochs.Assign(epoch, start)
}

// markerOf reads a control batch: nil if it ends no transaction.
func markerOf(b record.Batch) (*producers.Marker, error) {
	if !b.Control() || b.ProducerID < 0 || b.Count == 0 {
		return nil, nil
	}
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	var r record.Record
	if err := d.Reset(b); err != nil {
		return nil, err
	}
	if _, err := d.Next(&r); err != nil {
		return nil, err
	}
	kind, err := record.ParseControl(r.Key)
	if err != nil || kind != record.ControlAbort && kind != record.ControlCommit {
		return nil, err
	}
	epoch, err := record.ParseEndTxn(r.Value)
	if err != nil {
		return nil, err
	}
	return &producers.Marker{ProducerID: b.ProducerID, Epoch: b.ProducerEpoch, CoordinatorEpoch: epoch,
		Commit: kind == record.ControlCommit, Timestamp: b.MaxTimestamp}, nil
}

// take takes in a batch that is in the log at base; m is what markerOf says of
// it. It returns the transaction that it aborts, if any.
func (s *state) take(h *record.BatchHeader, m *producers.Marker, base int64) (a index.AbortedTxn, aborts bool) {
	switch {
	case m != nil:
		m.Offset = base
		txn, ended := s.producers.AppendMarker(*m)
		if !ended || !txn.Aborted {
			return a, false
		}
		a = index.AbortedTxn{ProducerID: txn.ProducerID, First: txn.First, Last: txn.Last, LastStableOffset: s.producers.StableAfter(txn)}
		s.aborted = append(s.aborted[:len(s.aborted):len(s.aborted)], a)
		return a, true
	case !h.Control():
		s.producers.Append(h, base)
	case h.Count == 0 && h.ProducerID >= 0:
		s.producers.AppendEmptied(h)
	}
	return a, false
}

var errStop = fmt.Errorf("log: stop")

// publishLocked lets readers see the state's transactions and leader epoch. It
// is called where the watermarks that it goes with are changed: see atOnce.
func (l *Log) publishLocked() {
	aborted := l.mu.state.aborted
	l.aborted.Store(&aborted)
	table := &l.mu.state.producers
	if !l.replicated.Load() {
		table.Replicated(l.end.Load())
	}
	unstable, ok := table.FirstUnstable(l.highWatermarkNow())
	if !ok {
		unstable = math.MaxInt64
	}
	l.unstable.Store(unstable)
	l.epoch.Store(l.mu.state.latestEpoch())
}

// AbortedTxn is an aborted transaction: its producer, its first record and its
// marker.
type AbortedTxn = index.AbortedTxn

// Aborted lists the aborted transactions that have records in [from, end), for
// a reader that gets those records and is to pass over them (the answer of
// Kafka's Fetch). Transactions decided only behind end may be listed too.
func (l *Log) Aborted(from, end int64) []AbortedTxn {
	var list []AbortedTxn
	for _, a := range markedFrom(*l.aborted.Load(), from) {
		if a.First < end {
			list = append(list, a)
		}
		if a.LastStableOffset >= end {
			break
		}
	}
	return list
}

// markedFrom is the transactions whose markers are at or above offset.
func markedFrom(aborted []AbortedTxn, offset int64) []AbortedTxn {
	i, _ := slices.BinarySearchFunc(aborted, offset, func(a AbortedTxn, offset int64) int {
		return cmp.Compare(a.Last, offset)
	})
	return aborted[i:]
}

// Producers lists what the log knows of idempotent and transactional producers,
// in the order of their ids.
func (l *Log) Producers() []ProducerState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.state.producers.Producers()
}

// ProducerState is the state of one producer id.
type ProducerState = producers.Producer
