package log

import (
	"slices"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/segment"
)

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
	n.aborted = 0
	for _, a := range l.mu.state.aborted {
		if a.Last >= end && a.Last < n.at {
			n.aborted++
		}
	}
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
	l.publishLocked()
}

// cutStateLocked goes back to the state as of the log's new end.
func (l *Log) cutStateLocked(end int64) error {
	l.commit.noted, l.commit.superseded = noted{}, 0
	segments := l.set.Load().all()
	old := &l.mu.state
	next := state{epochs: old.epochs}
	next.epochs.TruncateFromEnd(end)
	next.aborted = slices.DeleteFunc(slices.Clone(old.aborted), func(a index.AbortedTxn) bool { return a.Last >= end })
	if old.producers.Len() > 0 {
		table, at := l.newestSnapshot(l.First(), end)
		if table == nil {
			at = segments[0].Base()
		} else {
			next.producers = *table
		}
		kept := next.aborted
		if err := next.replay(segments, at, end); err != nil {
			return err
		}
		next.aborted = kept
	}
	l.mu.state = next
	l.epoch.Store(next.latestEpoch())
	if l.replicated.Load() {
		l.highWatermark.Store(min(l.highWatermark.Load(), end))
	}
	l.writeStateFiles(&l.mu.state, segments)
	l.publishLocked()
	return nil
}
