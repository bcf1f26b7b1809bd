package log

import (
	"math"
	"slices"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// replay takes batches of a log into a state.
type replay struct {
	// verify says that the batches' checksums were not verified just now.
	verify bool
	// epochs says what becomes of leader epochs; nil leaves them as they are.
	epochs *epochWatch
	// aborts reads the transaction indexes; they are asked for markers that are
	// lost to damage. nil is not to.
	aborts func() ([]index.AbortedTxn, error)
	// lost are the ranges of offsets that recovery took out as damaged.
	lost []offsets
}

// offsets are those of [from, end).
type offsets struct{ from, end int64 }

// into takes the batches of [from, end), which are in the log, into s. What is
// damaged is passed over; of a transaction that ended there it is known that it
// was aborted if its segment's index says so, and otherwise it stays open.
func (r replay) into(s *state, segments []*segment.Segment, from, end int64) error {
	w := &walking{s: s, replay: r, from: from, end: end, lost: slices.Clone(r.lost)}
	for _, seg := range segments {
		if seg.Next() <= from || seg.Base() >= end {
			continue
		}
		reach := seg.Next()
		err := seg.Walk(max(from, seg.Base()), r.verify, w.batch, func(first, next int64) {
			if next < 0 {
				next = max(first, reach)
			}
			w.lost = append(w.lost, offsets{first, next})
		})
		if err == nil {
			err = w.lostBelow(reach)
		}
		if err != nil && err != errStop {
			return err
		}
	}
	if err := w.lostBelow(end); err != nil {
		return err
	}
	if r.epochs != nil {
		s.epochs = r.epochs.end(end)
		s.led = max(s.led, r.epochs.newest)
	}
	s.producers.SetNext(end)
	return nil
}

// settle closes the transactions that a snapshot as of at has open and that came
// to an end which no batch tells of any more: compaction takes a marker away, but
// only after the last batch of its transaction. So a transaction whose first
// batch is there is right, and else all batches together know which are open.
// That a batch is gone because the log starts behind it says nothing, unless the
// log is compacted. s is the state as of end.
func (r replay) settle(s *state, segments []*segment.Segment, at, end, start int64, compacted bool) error {
	doubt := false
	for _, txn := range s.producers.Open() {
		if txn.First >= at || txn.First < start && !compacted {
			continue
		}
		there, err := begins(segments, txn)
		if err != nil {
			return err
		}
		doubt = doubt || !there
	}
	if !doubt {
		return nil
	}
	var all state
	r.epochs = nil
	if err := r.into(&all, segments, segments[0].Base(), end); err != nil {
		return err
	}
	s.producers.OpenAs(&all.producers)
	return nil
}

// begins says whether the first batch of a transaction is in the log.
func begins(segments []*segment.Segment, txn producers.Txn) (there bool, err error) {
	for _, seg := range segments {
		if seg.Base() <= txn.First && txn.First < seg.Next() {
			err = seg.Walk(txn.First, false, func(b record.Batch) error {
				there = b.BaseOffset == txn.First && b.ProducerID == txn.ProducerID && b.Transactional() && !b.Control()
				return errStop
			}, func(int64, int64) {})
		}
	}
	if err == errStop {
		err = nil
	}
	return there, err
}

// walking is a replay under way.
type walking struct {
	replay
	s         *state
	from, end int64
	lost      []offsets
	aborted   []index.AbortedTxn // what the indexes say, once it was asked for
}

func (w *walking) batch(b record.Batch) error {
	if b.BaseOffset < w.from {
		return nil
	}
	if b.NextOffset() > w.end { // also of one that is cut, since it begins below the log start
		return errStop
	}
	if err := w.lostBelow(b.BaseOffset); err != nil {
		return err
	}
	if w.epochs != nil {
		w.epochs.batch(&b.BatchHeader)
	}
	if b.ProducerID < 0 {
		return nil
	}
	m, err := markerOf(b)
	if err != nil {
		return nil // met by who reads it
	}
	w.s.take(&b.BatchHeader, m, b.BaseOffset)
	return nil
}

// lostBelow ends the transactions whose markers are lost below offset, as far
// as an index knows of them.
func (w *walking) lostBelow(offset int64) error {
	for len(w.lost) > 0 && w.lost[0].from < offset {
		gap := w.lost[0]
		w.lost = w.lost[1:]
		if w.aborts == nil {
			continue
		}
		if w.aborted == nil {
			list, err := w.aborts()
			if err != nil {
				return err
			}
			w.aborted = append(make([]index.AbortedTxn, 0, 1), list...)
		}
		for _, a := range w.aborted {
			if a.Last >= max(gap.from, w.from) && a.Last < min(gap.end, w.end) {
				w.s.producers.Abort(a.ProducerID, a.Last)
				w.s.aborted = append(w.s.aborted[:len(w.s.aborted):len(w.s.aborted)], a)
			}
		}
	}
	return nil
}

// epochWatch makes a history of leader epochs from those of batches, which no
// checksum covers, and of what the file says, which has none.
type epochWatch struct {
	derived epochs.History
	pending *epochs.Entry // an epoch of which one batch was seen
	// file is what the file says. It is believed where all batches agree with it,
	// but for one at most, since it may know epochs whose batches are gone.
	file     epochs.History
	known    bool
	disagree int
	at       int   // the entry of file that is in force
	next     int64 // the offset due
	start    int64 // of the log
	newest   int32 // of the batches, those below the start included, that others bear out
}

// watchEpochs goes on at from, behind what is known for certain, in a log that
// starts at start. file is not looked at if it is not known.
func watchEpochs(certain, file epochs.History, known bool, from, start int64) *epochWatch {
	w := &epochWatch{derived: certain, file: file, known: known, at: -1, next: math.MinInt64, start: start}
	for w.at+1 < len(file.Entries()) && file.Entries()[w.at+1].Start < from {
		w.at++
	}
	return w
}

func (w *epochWatch) batch(h *record.BatchHeader) {
	w.compare(h)
	w.next = h.NextOffset()
	if h.LeaderEpoch < 0 {
		return
	}
	// Epochs do not descend. So one that the batch behind does not bear out is a
	// damaged one.
	if w.pending != nil && h.LeaderEpoch >= w.pending.Epoch {
		w.derived.Assign(w.pending.Epoch, w.pending.Start)
		w.newest = max(w.newest, w.pending.Epoch)
	}
	w.pending = nil
	if latest, ok := w.derived.Latest(); !ok || h.LeaderEpoch > latest.Epoch {
		w.pending = &epochs.Entry{Epoch: h.LeaderEpoch, Start: h.BaseOffset}
		if !ok {
			w.pending.Start = min(h.BaseOffset, w.start)
		}
	}
}

// compare holds a batch against the file: it has the epoch in force there, and
// each epoch begins where a batch does, or in the gap before it. But the first one
// may begin at a log start that is later than ours.
func (w *epochWatch) compare(h *record.BatchHeader) {
	if h.NextOffset() <= w.start {
		return
	}
	w.reach(max(h.BaseOffset, w.start))
	list := w.file.Entries()
	switch {
	case h.LeaderEpoch < 0:
	case w.at >= 0 && h.LeaderEpoch != list[w.at].Epoch, w.at < 0 && (len(list) == 0 || h.LeaderEpoch > list[0].Epoch):
		w.disagree++
	}
}

const many = 1 << 30

// reach goes on to the entry of the file that is in force at offset, where a batch
// begins or the log ends.
func (w *epochWatch) reach(offset int64) {
	list := w.file.Entries()
	for w.at+1 < len(list) && list[w.at+1].Start <= offset {
		if w.at++; w.at > 0 && list[w.at].Start < w.next {
			w.disagree = many
		}
	}
}

// end is the history, of a log that ends at end: behind its last batch there may
// be a gap that compaction left, with epochs that only the file knows.
func (w *epochWatch) end(end int64) epochs.History {
	w.reach(end)
	if w.known && w.disagree <= 1 && w.at == len(w.file.Entries())-1 {
		return w.file
	}
	if p := w.pending; p != nil {
		confirmed := !w.known
		for _, e := range w.file.Entries() {
			confirmed = confirmed || e.Epoch == p.Epoch
		}
		if confirmed {
			w.derived.Assign(p.Epoch, p.Start)
		}
	}
	w.derived.TruncateFromStart(w.start)
	return w.derived
}
