package producers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seglog/seglog/record"
)

var (
	// ErrFenced says that a newer instance of the producer has taken over
	// (Kafka's INVALID_PRODUCER_EPOCH).
	ErrFenced = errors.New("producer fenced by a newer epoch")
	// ErrOutOfOrder says that batches are missing before this one
	// (OUT_OF_ORDER_SEQUENCE_NUMBER).
	ErrOutOfOrder = errors.New("producer sequence out of order")
	// ErrTxnState says that the batch does not fit the producer's transaction
	// (INVALID_TXN_STATE).
	ErrTxnState = errors.New("batch does not fit the producer's transaction")
	// ErrCoordinatorFenced says that a newer coordinator has written a marker
	// (TRANSACTION_COORDINATOR_FENCED).
	ErrCoordinatorFenced = errors.New("transaction coordinator fenced by a newer epoch")
)

// Origin is who a batch comes from, and so what is checked.
type Origin int

const (
	Client      Origin = iota // everything
	Coordinator               // epochs
	Leader                    // nothing: it was checked there
)

// Duplicate is where the first append of a batch went.
type Duplicate struct {
	First, Last int64
	Timestamp   int64 // ms
}

// Txn is a transaction's place in the log.
type Txn struct {
	ProducerID int64
	First      int64 // offset of its first record
	Last       int64 // offset of its marker
	Aborted    bool
}

// Table is the producer state of a partition as of an offset. Its zero value
// is that of an empty log.
type Table struct {
	next      int64 // all batches below are taken in
	producers map[int64]*producer
	open      []Txn // transactions without a marker, by First
	ended     []Txn // with one that is not below the high watermark, by First
}

// Next is the offset below which all batches are taken in.
func (t *Table) Next() int64 { return t.next }

// SetNext notes that what lies below next has nothing to take in.
func (t *Table) SetNext(next int64) { t.next = max(t.next, next) }

// Len is the number of producers known.
func (t *Table) Len() int { return len(t.producers) }

// Check says whether a data batch from that origin may be appended. dup is not
// nil if it is a duplicate, which is to be answered and not appended.
func (t *Table) Check(h *record.BatchHeader, from Origin) (dup *Duplicate, err error) {
	if h.ProducerID < 0 || from == Leader {
		return nil, nil
	}
	p := t.producers[h.ProducerID]
	if p == nil {
		return nil, nil // any sequence: its older records may have been deleted
	}
	if from == Client {
		if b, ok := p.duplicate(h.ProducerEpoch, h.BaseSequence, h.LastSequence()); ok {
			return &Duplicate{First: b.firstOffset(), Last: b.lastOffset, Timestamp: b.timestamp}, nil
		}
	}
	if h.ProducerEpoch < p.epoch {
		return nil, fmt.Errorf("%w: producer %d at epoch %d, the batch has %d", ErrFenced, h.ProducerID, p.epoch, h.ProducerEpoch)
	}
	if from == Client {
		if err := p.checkSequence(h); err != nil {
			return nil, err
		}
	}
	if p.txnFirst != none && !h.Transactional() {
		return nil, fmt.Errorf("%w: producer %d has one open since offset %d, and the batch is not transactional", ErrTxnState, h.ProducerID, p.txnFirst)
	}
	return nil, nil
}

func (p *producer) checkSequence(h *record.BatchHeader) error {
	if h.ProducerEpoch != p.epoch {
		if h.BaseSequence != 0 && p.epoch != none {
			return fmt.Errorf("%w: producer %d begins epoch %d with sequence %d, want 0", ErrOutOfOrder, h.ProducerID, h.ProducerEpoch, h.BaseSequence)
		}
		return nil
	}
	if last := p.lastSequence(); !follows(last, h.BaseSequence) {
		return fmt.Errorf("%w: producer %d sent sequence %d after %d", ErrOutOfOrder, h.ProducerID, h.BaseSequence, last)
	}
	return nil
}

// Append takes a data batch in that was appended at base. Batches without a
// producer only move Next.
func (t *Table) Append(h *record.BatchHeader, base int64) {
	last := base + int64(h.LastOffsetDelta)
	t.next = last + 1
	if h.ProducerID < 0 {
		return
	}
	p := t.producer(h.ProducerID)
	p.setEpoch(h.ProducerEpoch)
	p.push(batch{lastSequence: h.LastSequence(), lastOffset: last, offsetDelta: h.LastOffsetDelta, timestamp: h.MaxTimestamp})
	if h.Transactional() && p.txnFirst == none {
		p.txnFirst = base
		t.open = insert(t.open, Txn{ProducerID: h.ProducerID, First: base})
	}
}

// Marker is what a control batch says of a producer's transaction.
type Marker struct {
	ProducerID       int64
	Epoch            int16
	CoordinatorEpoch int32
	Commit           bool
	Offset           int64 // the marker's own
	Timestamp        int64 // ms
}

// CheckMarker says whether a coordinator's marker may be appended. raised says
// that the coordinator raises the epoch with each transaction
// (transaction.version 2): then one that does not is a stray, but for a retry.
func (t *Table) CheckMarker(m Marker, raised bool) error {
	p := t.producers[m.ProducerID]
	if p == nil {
		return nil
	}
	retry := m.Epoch == p.epoch && (p.txnFirst == none || p.epoch == maxEpoch)
	if m.Epoch < p.epoch || raised && m.Epoch == p.epoch && !retry {
		return fmt.Errorf("%w: producer %d at epoch %d, the marker has %d", ErrFenced, m.ProducerID, p.epoch, m.Epoch)
	}
	if m.CoordinatorEpoch < p.coordinatorEpoch {
		return fmt.Errorf("%w: producer %d was last marked at %d, the marker has %d", ErrCoordinatorFenced, m.ProducerID, p.coordinatorEpoch, m.CoordinatorEpoch)
	}
	return nil
}

const maxEpoch = 1<<15 - 1

// AppendMarker takes a marker in and returns the transaction that it ends; ok
// is false where none was open.
func (t *Table) AppendMarker(m Marker) (txn Txn, ok bool) {
	t.next = m.Offset + 1
	p := t.producer(m.ProducerID)
	p.setEpoch(m.Epoch)
	p.coordinatorEpoch, p.timestamp = m.CoordinatorEpoch, m.Timestamp
	if p.txnFirst == none {
		return Txn{}, false
	}
	txn = Txn{ProducerID: m.ProducerID, First: p.txnFirst, Last: m.Offset, Aborted: !m.Commit}
	p.txnFirst = none
	t.open = slices.DeleteFunc(t.open, func(o Txn) bool { return o.First == txn.First })
	t.ended = insert(t.ended, txn)
	return txn, true
}

// AppendEmptied takes a control batch in that compaction left without its
// record: a marker whose transaction has nothing left in the log. Its epoch stays,
// and how the transaction ended matters to nobody.
func (t *Table) AppendEmptied(h *record.BatchHeader) {
	p := t.producer(h.ProducerID)
	p.setEpoch(h.ProducerEpoch)
	p.timestamp = max(p.timestamp, h.MaxTimestamp)
	t.next = h.NextOffset()
	t.open = slices.DeleteFunc(t.open, func(o Txn) bool { return o.ProducerID == h.ProducerID })
	p.txnFirst = none
}

// Abort ends the open transaction of a producer whose marker, at that offset, is
// known of but lost.
func (t *Table) Abort(producerID, offset int64) {
	p := t.producers[producerID]
	if p == nil || p.txnFirst == none {
		return
	}
	t.AppendMarker(Marker{ProducerID: producerID, Epoch: p.epoch, CoordinatorEpoch: p.coordinatorEpoch, Offset: offset, Timestamp: p.timestamp})
}

// Open lists the transactions without a marker, by First.
func (t *Table) Open() []Txn { return slices.Clone(t.open) }

// OpenAs makes those transactions open that are open in other, of the producers
// that t knows.
func (t *Table) OpenAs(other *Table) {
	t.open = nil
	for id, p := range t.producers {
		p.txnFirst = none
		if o := other.producers[id]; o != nil && o.txnFirst != none {
			p.txnFirst = o.txnFirst
			t.open = insert(t.open, Txn{ProducerID: id, First: o.txnFirst})
		}
	}
}

// StableAfter is the last stable offset once txn, just ended, is all that was
// in its way: what the transaction index notes of an aborted one.
func (t *Table) StableAfter(txn Txn) int64 {
	for _, o := range t.open {
		if o.ProducerID != txn.ProducerID {
			return o.First
		}
	}
	return txn.Last + 1
}

// FirstUnstable is the start of the earliest transaction that is open, or whose
// marker is not below the high watermark; ok is false where there is none.
func (t *Table) FirstUnstable(highWatermark int64) (offset int64, ok bool) {
	if len(t.open) > 0 {
		offset, ok = t.open[0].First, true
	}
	for _, e := range t.ended {
		if e.Last >= highWatermark {
			if !ok || e.First < offset {
				offset, ok = e.First, true
			}
			break
		}
	}
	return offset, ok
}

// Replicated forgets the transactions whose markers are below the high
// watermark, which is not going to be lower again.
func (t *Table) Replicated(highWatermark int64) {
	t.ended = slices.DeleteFunc(t.ended, func(e Txn) bool { return e.Last < highWatermark })
}

// Ended lists the transactions that have a marker not known to be below the high
// watermark. No snapshot has them.
func (t *Table) Ended() []Txn { return slices.Clone(t.ended) }

// SetEnded takes in what Ended said before, as far as the markers lie below end.
func (t *Table) SetEnded(list []Txn, end int64) {
	t.ended = nil
	for _, txn := range list {
		if txn.Last < end {
			t.ended = insert(t.ended, txn)
		}
	}
}

// Expire forgets producers without an open transaction that wrote nothing since
// age before now, both in ms (producer.id.expiration.ms).
func (t *Table) Expire(now, age int64) {
	for id, p := range t.producers {
		if p.txnFirst == none && now-p.timestamp >= age {
			delete(t.producers, id)
		}
	}
}

// DropBefore forgets transactions that ended below the log's new start.
func (t *Table) DropBefore(start int64) {
	t.ended = slices.DeleteFunc(t.ended, func(e Txn) bool { return e.Last < start })
	t.SetNext(start)
}

func (t *Table) producer(id int64) *producer {
	p := t.producers[id]
	if p == nil {
		if t.producers == nil {
			t.producers = make(map[int64]*producer)
		}
		p = newProducer()
		t.producers[id] = p
	}
	return p
}

func insert(list []Txn, txn Txn) []Txn {
	i, _ := slices.BinarySearchFunc(list, txn.First, func(x Txn, first int64) int { return cmp.Compare(x.First, first) })
	return slices.Insert(list, i, txn)
}
