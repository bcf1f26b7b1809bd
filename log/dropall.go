package log

import (
	"fmt"
	"math"
	"slices"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// DropAll drops all records and lets the log start again at offset, empty,
// durably: First, End and the high watermark are then offset, which may be below,
// in, or above what there was. Leader epochs and producers are forgotten. It is
// for a replica that has nothing in common with its leader any more, whose log
// begins behind this one's end (Kafka's truncateFullyAndStartAt).
//
// Readers see the old log or the new one; Views stay good.
func (l *Log) DropAll(offset int64) error {
	if offset < 0 || offset > math.MaxInt64-math.MaxInt32 {
		return fmt.Errorf("log: %w: a log cannot start at offset %d", record.ErrInvalid, offset)
	}
	if err := l.mark(); err != nil {
		return err
	}
	var event DropEvent
	err := l.cutting(offset, true, func() (err error) {
		l.commit.acquire()
		defer l.release()
		event, err = l.dropAllHeld(offset)
		return err
	})
	l.appended.Notify()
	if len(event.Segments) > 0 {
		event.Reason = "DropAll"
		tell(l, l.opts.Trace.Dropped, event)
	}
	return err
}

func (l *Log) dropAllHeld(start int64) (e DropEvent, err error) {
	// Names of what was dropped before may be those of what comes.
	l.graves.names.Lock()
	defer l.graves.names.Unlock()
	if err := l.bury(nil, never); err != nil {
		return e, fmt.Errorf("log: files of segments dropped earlier are in the way: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return e, err
	}
	// Until this is there the old log is the one that opens, with its file of leader
	// epochs: no batch may tell of them any more. From then on the file says nothing.
	l.compaction.cutAt(start)
	begun := recovery.Checkpoint{HighWatermark: start, LogStart: start, Dropping: true, DropFrom: 0}
	if err := l.beginDropLocked(begun); err != nil {
		return e, err
	}
	old := l.set.Load().all()
	for _, s := range old {
		e.Segments = append(e.Segments, l.info(s))
	}
	if err := l.startAtLocked(start, old); err != nil {
		return e, err
	}
	return e, l.endDropLocked()
}

// startAtLocked puts an empty segment in the place of all. If it fails the log
// has failed, and recovery brings it to its end.
func (l *Log) startAtLocked(start int64, old []*segment.Segment) error {
	l.forget(0)
	l.commit.noted, l.commit.superseded = noted{}, nil
	l.mu.state, l.mu.txnFiles, l.mu.epochsBehind = state{}, nil, true
	clear(l.mu.txnsBehind)
	l.atOnceLocked(func() {
		l.cuts.Add(1)
		l.end.Store(start)
		l.first.Store(start)
		l.durable.Store(start)
		l.highWatermark.Store(start)
		l.publishLocked()
	})
	invariants.Pause("cut published")
	next, err := l.replaceAll(start, old)
	if err != nil {
		next, err = l.standIn(segment.Empty(start), old), l.failLocked(err)
	}
	l.swapLocked(old, next)
	l.mu.active, l.mu.created = next, l.opts.Env.Now().UnixMilli()
	return err
}

func (l *Log) replaceAll(start int64, old []*segment.Segment) (*segment.Segment, error) {
	for _, s := range slices.Backward(old) {
		if err := s.Remove(); err != nil {
			return nil, err
		}
	}
	if err := l.removeSnapshots(-1); err != nil {
		return nil, err
	}
	return segment.Create(l.configFor(0), start)
}
