package log

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// state is what a log knows of its batches beside where they are. All of it is
// derived from them; mu guards it.
type state struct {
	producers producers.Table
	epochs    epochs.History
	aborted   []index.AbortedTxn // by marker; never changed in place: readers have it
}

// noted is a producer state that was made durable.
type noted struct {
	at      int64 // as of this offset
	count   int   // of producers; their state is in at's snapshot file
	aborted int   // aborted transactions below at
}

// latestEpoch is the newest leader epoch, -1 for none.
func (s *state) latestEpoch() int32 {
	if e, ok := s.epochs.Latest(); ok {
		return e.Epoch
	}
	return -1
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
	}
	return a, false
}

// replay takes in the batches of [from, end), which are in the log.
func (s *state) replay(segments []*segment.Segment, from, end int64) error {
	for _, seg := range segments {
		if seg.Next() <= from || seg.Base() >= end {
			continue
		}
		err := seg.Walk(max(from, seg.Base()), func(b record.Batch) error {
			if b.BaseOffset < from {
				return nil
			}
			if b.BaseOffset >= end {
				return errStop
			}
			if b.LeaderEpoch > s.latestEpoch() { // older ones are known, or were given up
				s.epochs.Assign(b.LeaderEpoch, b.BaseOffset)
			}
			if b.ProducerID < 0 {
				return nil
			}
			m, err := markerOf(b)
			if err != nil {
				return nil // met by who reads it
			}
			s.take(&b.BatchHeader, m, b.BaseOffset)
			return nil
		})
		if err != nil && err != errStop {
			return err
		}
	}
	s.producers.SetNext(end)
	return nil
}

var errStop = fmt.Errorf("log: stop")

// publishLocked lets readers see the state's transactions.
func (l *Log) publishLocked() {
	aborted := l.mu.state.aborted
	l.aborted.Store(&aborted)
	unstable, ok := l.mu.state.producers.FirstUnstable(l.HighWatermark())
	if !ok {
		unstable = math.MaxInt64
	}
	l.unstable.Store(unstable)
}

// LastStable is the last stable offset: below it every transaction is decided.
// A reader that wants committed records only reads up to here (isolation.level
// read_committed). Of a transaction that began below First it is First.
func (l *Log) LastStable() int64 { return min(max(l.unstable.Load(), l.First()), l.HighWatermark()) }

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
