package compact

import "github.com/seglog/seglog/record"

// left is what compaction leaves of a batch.
type left int

const (
	nothing left = iota
	all          // as it is
	thinned      // some of its records, or another delete horizon
	emptied      // no record
)

func (w *worker) judgeAll(j *chunk) error {
	return w.each(j, func(b *batch) error { return w.judge(j, b) })
}

// judge decides what is left of a batch, and writes that where it is not all
// (Cleaner.cleanInto in Kafka).
func (w *worker) judge(j *chunk, b *batch) (err error) {
	b.left = nothing
	switch {
	case b.Control():
		err = w.judgeMarker(j, b)
	case b.aborted:
		w.tally.dropped += int64(b.Count)
	default:
		err = w.judgeData(j, b)
	}
	if err != nil || b.left != nothing || !w.remembered(&b.BatchHeader) {
		return err
	}
	if b.Count == 0 && b.Codec() == record.None {
		b.left = all
		return nil
	}
	b.left, b.from = emptied, len(j.out)
	j.out = append(j.out, record.Emptied(b.BatchHeader)...)
	b.to = len(j.out)
	return nil
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

// judgeMarker keeps a marker while its transaction has data, and until the
// horizon that is set when it has none.
func (w *worker) judgeMarker(j *chunk, b *batch) error {
	if b.Count == 0 {
		return nil
	}
	horizon, has := b.DeleteHorizon()
	switch {
	case b.discardable && !has:
		payload, err := w.read(&b.Batch)
		if err != nil {
			return err
		}
		w.kept = append(w.kept[:0], w.records...)
		return w.thin(j, b, payload, true)
	case b.discardable && horizon <= w.Now.UnixMilli():
		return nil
	}
	b.left = all
	return nil
}

// judgeData decides of each record.
func (w *worker) judgeData(j *chunk, b *batch) error {
	payload, err := w.read(&b.Batch)
	if err != nil {
		return err
	}
	horizon, hasHorizon := b.DeleteHorizon()
	expired := hasHorizon && horizon <= w.Now.UnixMilli()
	w.kept = w.kept[:0]
	if w.marks != nil {
		w.keepUnmarked(b, expired)
	} else if err := w.windows(func(records []record.Raw, hashes []uint64) error {
		return w.keep(b.BaseOffset, records, hashes, expired)
	}); err != nil {
		return err
	}
	setHorizon := false
	for i := range w.kept {
		setHorizon = setHorizon || w.kept[i].Tombstone && !hasHorizon
	}
	w.tally.dropped += int64(len(w.records) - len(w.kept))
	switch {
	case len(w.kept) == 0:
	case len(w.kept) == len(w.records) && !setHorizon:
		b.left = all
	default:
		return w.thin(j, b, payload, setHorizon)
	}
	return nil
}

// thin writes the batch anew with the records kept; setHorizon gives it its
// delete horizon.
func (w *worker) thin(j *chunk, b *batch, payload []byte, setHorizon bool) (err error) {
	var horizon *int64
	if setHorizon {
		at := w.Now.Add(w.Options.DeleteRetention).UnixMilli()
		horizon = &at
	}
	b.left, b.from = thinned, len(j.out)
	out, err := w.thinner.Thin(j.out, b.BatchHeader, payload, w.kept, horizon)
	if err != nil {
		return err
	}
	j.out, b.to = out, len(out)
	return nil
}
