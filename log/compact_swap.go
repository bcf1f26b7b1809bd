package log

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
	"github.com/seglog/seglog/segment"
)

// replaceSegments puts a compacted segment in the place of those it was made of.
//
// The checkpoint forgets them first: facts of the old files must not be held
// against the new. After a crash in between recovery verifies what is there.
func (l *Log) replaceSegments(old []*segment.Segment, r *compact.Replacement) error {
	l.commit.acquire()
	defer l.release()
	at, err := l.replaceableHeld(old)
	if err != nil {
		return err
	}
	c := &l.commit
	rest := slices.Delete(slices.Clone(c.durable), at, at+len(old))
	if err := l.writeCheckpoint(l.first.Load(), rest, false); err != nil {
		return err
	}
	if err := r.Commit(); err != nil {
		if undo := r.Discard(); undo != nil { // it may be the one that counts after a crash
			return l.fail(errors.Join(err, undo))
		}
		return err
	}
	err = l.exchange(old, r)
	if errors.Is(err, ErrFailed) {
		return err
	}
	c.durable = slices.Insert(rest, at, r.Facts)
	l.removeSnapshotsOf(old[1:])
	return errors.Join(err, l.writeCheckpoint(l.first.Load(), c.durable, false))
}

// replaceableHeld is the place of segments among the durable ones, if they are
// all still in the log.
func (l *Log) replaceableHeld(old []*segment.Segment) (at int, err error) {
	if err := l.writable(); err != nil {
		return 0, err
	}
	set := l.set.Load()
	at, _ = l.commit.find(old[0].Base())
	for i, s := range old {
		if set.floor(s.Base(), nil) != s {
			return 0, compact.ErrChanged
		}
		if d := l.commit.durable; at+i >= len(d)-1 || d[at+i].Base != s.Base() {
			return 0, compact.ErrChanged // a cut made less durable
		}
	}
	return at, nil
}

// exchange takes the old segments out of use, exchanges the files and publishes
// the new segment. Readers that find a segment gone wait for that; appends do
// not wait for the files.
func (l *Log) exchange(old []*segment.Segment, r *compact.Replacement) error {
	l.exchanging.Lock()
	defer l.exchanging.Unlock()
	var errs []error
	for _, s := range old {
		errs = append(errs, s.Close()) // it is out of use all the same
	}
	err := r.Finish()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return l.stickLocked(err)
	}
	l.swapLocked(old, segment.OpenSealed(l.cfg, r.Facts))
	l.exchangeAbortsLocked(r)
	return errors.Join(errs...)
}

// exchangeAbortsLocked lists those aborted transactions that the new segment's
// index does.
func (l *Log) exchangeAbortsLocked(r *compact.Replacement) {
	s, next := &l.mu.state, l.set.Load().after(r.Facts.Base).Base()
	from, _ := findAbort(s.aborted, r.Facts.Base)
	to, _ := findAbort(s.aborted, next)
	if slices.Equal(s.aborted[from:to], r.Aborted) {
		return
	}
	s.aborted = slices.Concat(s.aborted[:from], r.Aborted, s.aborted[to:])
	n := &l.commit.noted
	n.aborts = abortsOf(s.aborted, 0, n.at)
	l.publishLocked()
}

// findAbort is the place of the first transaction whose marker is at or above
// offset.
func findAbort(list []index.AbortedTxn, offset int64) (int, bool) {
	return slices.BinarySearchFunc(list, offset, func(a index.AbortedTxn, offset int64) int { return cmp.Compare(a.Last, offset) })
}

// removeSnapshotsOf unlinks the producer snapshots at bases that are none any
// more, but not the one that the checkpoint refers to.
func (l *Log) removeSnapshotsOf(segments []*segment.Segment) {
	for _, s := range segments {
		if s.Base() == l.commit.noted.at {
			continue
		}
		if err := l.cfg.FS.Remove(l.path(s.Base(), segment.SnapshotSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.opts.Logger.Warn("log: a producer snapshot could not be removed", "offset", s.Base(), "error", err)
		}
	}
}

// replaced lists the sealed segments below the recovery point that the
// checkpoint does not know: a crash came between a replacement and the note of
// it. Recovery has verified them, and they were durable before they counted.
func replaced(r *recovery.Report) (facts []segment.Facts) {
	for _, s := range r.Segments[:max(len(r.Segments)-1, 0)] {
		_, known := slices.BinarySearchFunc(r.Checkpoint.Segments, s.Base, func(f segment.Facts, base int64) int {
			return cmp.Compare(f.Base, base)
		})
		if !known && s.Next <= r.RecoveryPoint {
			facts = append(facts, s.Facts)
		}
	}
	return facts
}
