package log

import (
	"errors"
	"fmt"
	"math"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// roomLocked makes sure that the active segment takes a batch of n bytes at
// offset first, beginning a new one where it is due.
func (l *Log) roomLocked(n int64, h *record.BatchHeader, first int64) (rolled RollEvent, err error) {
	reason := l.rollReasonLocked(n, h, first)
	if reason == "" {
		return rolled, l.mu.active.Reserve(n)
	}
	if err := l.rollLocked(n); err != nil {
		return rolled, err
	}
	return RollEvent{Base: l.mu.active.Base(), Reason: reason}, nil
}

// rollReasonLocked says why a new segment is due before this batch, "" if it
// is not (Kafka's LogSegment.shouldRoll).
func (l *Log) rollReasonLocked(n int64, h *record.BatchHeader, first int64) string {
	s := l.mu.active
	switch {
	case s.Size() == 0:
		return ""
	case s.Size()+n > l.opts.SegmentBytes:
		return "full"
	case s.IndexFull():
		return "index full"
	case first+int64(h.LastOffsetDelta)-s.Base() > math.MaxInt32:
		return "offsets out of reach"
	case l.ageLocked(h) > l.opts.SegmentAge.Milliseconds():
		return "age"
	}
	return ""
}

// ageLocked is the time in ms between the segment's first batch and this one,
// by their timestamps; by the clock where the first has none.
func (l *Log) ageLocked(h *record.BatchHeader) int64 {
	if since := l.mu.active.FirstTime(); since >= 0 {
		return h.MaxTimestamp - since
	}
	return l.opts.Env.Now().UnixMilli() - l.mu.created
}

// rollLocked begins a new segment at the log end offset, with room for n bytes,
// and seals the active one. If there is no room nothing has changed.
//
// The new one is there before the old one is cut to size: after a crash between
// the two, zeros that end where the next segment begins are cut by recovery.
func (l *Log) rollLocked(n int64) error {
	base := l.end.Load()
	l.mu.newNames = true // of a roll that fails, too: what it made and removed
	next, err := segment.Create(l.cfg, base)
	if err != nil {
		return err
	}
	if err := next.Reserve(n); err != nil {
		return errors.Join(err, next.Remove())
	}
	old := l.mu.active
	if err := old.Seal(); err != nil {
		return l.failLocked(errors.Join(err, next.Remove()))
	}
	l.mu.unsynced = append(l.mu.unsynced, old)
	l.mu.active = next
	l.mu.created = l.opts.Env.Now().UnixMilli()
	l.set.Store(l.set.Load().change(nil, next))
	return nil
}

// failLocked makes the log refuse all that follows.
func (l *Log) failLocked(cause error) error {
	if l.mu.failed == nil {
		l.mu.failed = fmt.Errorf("%w: %w", ErrFailed, cause)
		l.opts.Logger.Error("log: failed, it takes no more until it is opened again", "dir", l.dir, "error", cause)
	}
	return l.mu.failed
}

func (l *Log) fail(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failLocked(cause)
}
