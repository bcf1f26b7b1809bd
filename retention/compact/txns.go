package compact

import (
	"cmp"
	"slices"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/record"
)

// txns knows of each batch, given one after the other, what its transaction
// came to (CleanedTransactionMetadata in Kafka). Data is only given from where
// all transactions have ended.
type txns struct {
	coming    []index.AbortedTxn         // those that begin behind what was read, by First
	aborted   map[int64]index.AbortedTxn // by producer, those that are being read
	committed map[int64]bool             // producers with data of a transaction seen whose marker is to come
	seen      map[int64]bool             // by the marker's offset: aborted ones with data, in earlier rounds too
}

// newTxns is for batches from offset from on. It adds to seen.
func newTxns(list []index.AbortedTxn, from int64, seen map[int64]bool) *txns {
	t := &txns{aborted: make(map[int64]index.AbortedTxn), committed: make(map[int64]bool), seen: seen}
	for _, a := range list {
		if a.Last >= from {
			t.coming = append(t.coming, a)
		}
	}
	slices.SortFunc(t.coming, func(a, b index.AbortedTxn) int { return cmp.Compare(a.First, b.First) })
	return t
}

func (t *txns) advance(offset int64) {
	for len(t.coming) > 0 && t.coming[0].First <= offset {
		a := t.coming[0]
		t.coming = t.coming[1:]
		if now, ok := t.aborted[a.ProducerID]; !ok || now.Last < a.First {
			t.aborted[a.ProducerID] = a
		}
	}
}

// data says whether a data batch belongs to an aborted transaction.
func (t *txns) data(h *record.BatchHeader) (isAborted bool) {
	t.advance(h.LastOffset())
	if !h.Transactional() {
		return false
	}
	a, ok := t.aborted[h.ProducerID]
	if !ok || a.Last < h.BaseOffset { // its marker is not in the log any more
		delete(t.aborted, h.ProducerID)
		t.committed[h.ProducerID] = true
		return false
	}
	t.seen[a.Last] = true
	return true
}

// control says of a control batch, whose first record has that key (nil: it is
// empty), whether nothing depends on it any more; else, of an abort, what the
// transaction index has to say.
func (t *txns) control(h *record.BatchHeader, key []byte) (discardable bool, abort *index.AbortedTxn, err error) {
	t.advance(h.LastOffset())
	if h.Count == 0 {
		return true, nil, nil
	}
	kind, err := record.ParseControl(key)
	if err != nil {
		return false, nil, err
	}
	switch kind {
	case record.ControlAbort:
		a, ok := t.aborted[h.ProducerID]
		delete(t.aborted, h.ProducerID)
		if ok && t.seen[a.Last] {
			return false, &a, nil
		}
		return true, nil, nil
	case record.ControlCommit:
		seen := t.committed[h.ProducerID]
		delete(t.committed, h.ProducerID)
		return !seen, nil, nil
	}
	return false, nil, nil
}
