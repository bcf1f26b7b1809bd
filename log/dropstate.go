package log

import (
	"errors"
	"slices"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// keepProducersOf notes what is known of producers, if segments are about to go
// whose batches are behind what was noted last: nothing would tell it then. On a
// full disk, where they have to go all the same, nothing is better than what was
// true before them. The caller holds commit.
func (l *Log) keepProducersOf(victims []*segment.Segment) error {
	n := len(victims)
	if n == 0 || l.commit.noted.at >= victims[n-1].Next() {
		return nil
	}
	l.mu.Lock()
	known := l.mu.state.producers.Len()
	l.mu.Unlock()
	if known == 0 {
		return nil
	}
	err := l.syncStateHeld(true)
	if err == nil || errors.Is(err, ErrFailed) || !vfs.IsFull(err) {
		return err
	}
	l.commit.noted = noted{}
	return nil
}

// noteDropped makes the next checkpoint refer to the state without segments
// that are about to go. The caller holds commit.
func (l *Log) noteDropped(victims []*segment.Segment) {
	if len(victims) == 0 {
		return
	}
	n := &l.commit.noted
	for _, s := range victims {
		if s.Base() == n.at && n.count > 0 { // its snapshot file goes with it
			*n = noted{}
			return
		}
	}
	end := victims[len(victims)-1].Next()
	l.mu.Lock()
	defer l.mu.Unlock()
	n.aborts = abortsOf(l.mu.state.aborted, end, n.at)
}

// dropStateLocked forgets what lies below the log's new start.
func (l *Log) dropStateLocked(start int64) {
	s := &l.mu.state
	s.producers.DropBefore(start)
	oldest := l.set.Load().oldest().Base()
	s.aborted = slices.DeleteFunc(slices.Clone(s.aborted), func(a index.AbortedTxn) bool { return a.Last < oldest })
	if s.epochs.TruncateFromStart(start) {
		l.keepEpochs(s)
	}
	l.atOnceLocked(l.publishLocked)
}

// stateAsOf is the state as it was when the log ended at end, a batch's start.
func (l *Log) stateAsOf(end int64) (state, error) {
	segments := l.set.Load().all()
	old := &l.mu.state
	next := state{epochs: old.epochs, led: old.led}
	next.epochs.TruncateFromEnd(end)
	next.aborted = slices.DeleteFunc(slices.Clone(old.aborted), func(a index.AbortedTxn) bool { return a.Last >= end })
	if old.producers.Len() == 0 {
		return next, nil
	}
	files, err := l.stateFiles()
	if err != nil {
		return next, err
	}
	table, at, err := l.newestSnapshot(files, l.First(), end)
	if err != nil {
		return next, err
	}
	if table == nil {
		at = segments[0].Base()
	} else {
		next.producers = *table
	}
	aborted, history := next.aborted, next.epochs
	p := replay{verify: true, aborts: func() ([]index.AbortedTxn, error) { return l.readAborts(files.txns) }}
	err = p.into(&next, segments, at, end)
	if err == nil && table != nil {
		err = p.settle(&next, segments, at, end, l.First(), l.settings.Load().Compaction != nil)
	}
	next.aborted, next.epochs = aborted, history // they are known without it
	next.epochs.TruncateFromStart(l.First())     // of batches that are dropped, and there still
	next.producers.SetEnded(old.producers.Ended(), end)
	return next, err
}
