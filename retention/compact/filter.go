package compact

import (
	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/record"
)

// left is what compaction leaves of a batch.
type left int

const (
	nothing left = iota
	all          // as it is
	thinned      // the records in cleaner.kept
	emptied      // no record
)

// verdict is what the second pass decides of a batch.
type verdict struct {
	left    left
	payload []byte            // of the records kept, where it is thinned
	horizon bool              // it gets its delete horizon now
	abort   *index.AbortedTxn // for the transaction index
}

// judge decides what is left of a batch (Cleaner.cleanInto in Kafka). The
// records that are kept are in c.kept.
func (c *cleaner) judge(b record.Batch) (v verdict, err error) {
	if b.Control() {
		v, err = c.judgeControl(b)
	} else if !c.txns.data(&b.BatchHeader) {
		v, err = c.judgeData(b)
	} else {
		c.tally.dropped += int64(b.Count) // it is aborted, and nothing is left
	}
	if err == nil && v.left == nothing && c.remembered(&b.BatchHeader) {
		v.left = emptied
		if b.Count == 0 && b.Codec() == record.None {
			v.left = all
		}
	}
	return v, err
}

// remembered says that a batch has to be found even without records: it holds
// a producer's newest sequence number or, for one without data, its epoch; or
// it ends at the high watermark, and nothing above says where that is.
func (c *cleaner) remembered(h *record.BatchHeader) bool {
	if h.NextOffset() == c.HighWatermark {
		return true
	}
	p, ok := c.Producers[h.ProducerID]
	switch {
	case !ok || h.ProducerID < 0:
		return false
	case p.LastOffset >= 0:
		return h.LastOffset() == p.LastOffset
	}
	return h.Control() && h.ProducerEpoch == p.Epoch
}

// judgeControl keeps a marker while its transaction has data, and until the
// horizon that is set when it has none.
func (c *cleaner) judgeControl(b record.Batch) (v verdict, err error) {
	if v.payload, err = c.read(b); err != nil {
		return v, err
	}
	discardable, abort, err := c.txns.control(&b.BatchHeader, c.controlKey())
	if err != nil || b.Count == 0 {
		return v, err
	}
	v.left, v.abort = all, abort
	horizon, has := b.DeleteHorizon()
	switch {
	case !discardable:
	case !has:
		c.kept = append(c.kept[:0], c.records...)
		v.left, v.horizon = thinned, true
	case horizon <= c.Now.UnixMilli():
		v.left = nothing
	}
	return v, nil
}

// judgeData decides of each record.
func (c *cleaner) judgeData(b record.Batch) (v verdict, err error) {
	if v.payload, err = c.read(b); err != nil {
		return v, err
	}
	horizon, hasHorizon := b.DeleteHorizon()
	expired := hasHorizon && horizon <= c.Now.UnixMilli()
	c.kept = c.kept[:0]
	err = c.windows(func(records []record.Raw, hashes []uint64) error {
		return c.keep(b.BaseOffset, records, hashes, expired)
	})
	if err != nil {
		return v, err
	}
	for i := range c.kept {
		v.horizon = v.horizon || c.kept[i].Tombstone && !hasHorizon
	}
	c.tally.dropped += int64(len(c.records) - len(c.kept))
	switch {
	case len(c.kept) == 0:
		v.left = nothing
	case len(c.kept) == len(c.records) && !v.horizon:
		v.left = all
	default:
		v.left = thinned
	}
	return v, nil
}
