package log

import (
	"fmt"

	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/record"
)

// The answers to a producer's batch that cannot be appended; Kafka's error is
// in parentheses.
var (
	// ErrProducerFenced says that a newer instance of the producer has taken
	// over (INVALID_PRODUCER_EPOCH).
	ErrProducerFenced = producers.ErrFenced
	// ErrOutOfOrderSequence says that batches are missing before this one
	// (OUT_OF_ORDER_SEQUENCE_NUMBER).
	ErrOutOfOrderSequence = producers.ErrOutOfOrder
	// ErrTransactionState says that the batch does not fit the producer's
	// transaction (INVALID_TXN_STATE).
	ErrTransactionState = producers.ErrTxnState
	// ErrCoordinatorFenced says that a newer transaction coordinator has
	// written a marker (TRANSACTION_COORDINATOR_FENCED).
	ErrCoordinatorFenced = producers.ErrCoordinatorFenced
)

// EndTxn is how a transaction ends: what its coordinator has written.
type EndTxn struct {
	ProducerID int64
	// Epoch is the marker's: the transaction's own or, if EpochRaised, one
	// above it, which the producer's next transaction then uses
	// (transaction.version 2, KIP-890).
	Epoch            int16
	EpochRaised      bool
	CoordinatorEpoch int32
	Commit           bool
}

// EndTransaction appends the marker that ends a producer's open transaction. A
// marker may come again, and for a producer that has nothing open.
func (l *Log) EndTransaction(e EndTxn) (Appended, error) {
	kind := record.ControlAbort
	if e.Commit {
		kind = record.ControlCommit
	}
	now := l.opts.Env.Now()
	b := l.builders.Get().(*record.Builder)
	defer l.builders.Put(b)
	b.Reset(record.BatchOptions{Control: true, Transactional: true,
		Producer: &record.Producer{ID: e.ProducerID, Epoch: e.Epoch, Sequence: -1}})
	if err := b.Add(&record.Record{Time: now, Key: record.ControlKey(kind), Value: record.EndTxnValue(e.CoordinatorEpoch)}); err != nil {
		return Appended{}, err
	}
	raw, err := b.Build()
	if err != nil {
		return Appended{}, err
	}
	batch, err := record.Verified(raw)
	if err != nil {
		return Appended{}, err
	}
	m := &producers.Marker{ProducerID: e.ProducerID, Epoch: e.Epoch, CoordinatorEpoch: e.CoordinatorEpoch,
		Commit: e.Commit, Timestamp: batch.MaxTimestamp}
	return l.place(batch, placing{origin: producers.Coordinator, marker: m, raised: e.EpochRaised})
}

func (l *Log) checkProducerLocked(h *record.BatchHeader, p *placing) (*producers.Duplicate, error) {
	switch {
	case p.origin == producers.Leader:
		return nil, nil
	case p.marker != nil:
		return nil, l.mu.state.producers.CheckMarker(*p.marker, p.raised)
	case h.BaseSequence < 0 && p.origin == producers.Client:
		return nil, fmt.Errorf("%w: sequence %d of producer %d", record.ErrInvalid, h.BaseSequence, h.ProducerID)
	}
	return l.mu.state.producers.Check(h, p.origin)
}

// takeProducerLocked takes in a producer's batch that was appended at first.
func (l *Log) takeProducerLocked(h *record.BatchHeader, p *placing, first int64) {
	if a, aborts := l.mu.state.take(h, p.marker, first); aborts {
		l.appendTxnLocked(a)
	}
}
