package log

import (
	"errors"
	"fmt"
	"math"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// roomLocked makes sure that the active segment takes a batch of n bytes at
// offset first, beginning a new one where it is due.
func (l *Log) roomLocked(n int64, h *record.BatchHeader, first int64) (rolled RollEvent, err error) {
	reason := l.rollReasonLocked(n, h, first)
	if reason == "" {
		if room := l.mu.active.Capacity(); n > room { // it is empty: see Configure
			return rolled, fmt.Errorf("%w: the batch has %d bytes, and the newest segment, which is empty, was begun for %d",
				record.ErrTooLarge, n, room)
		}
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
	s, set := l.mu.active, l.settings.Load()
	switch {
	case s.Size() == 0:
		return ""
	case s.Size()+n > min(set.SegmentBytes, s.Capacity()):
		return "full"
	case s.IndexFull():
		return "index full"
	case first+int64(h.LastOffsetDelta)-s.Base() > math.MaxInt32:
		return "offsets out of reach"
	case first > l.end.Load() && tearable(s.Size(), l.end.Load(), first):
		return "offsets out of step"
	case l.ageLocked(h) > set.SegmentAge.Milliseconds():
		return "age"
	}
	return ""
}

// tearable says whether a power cut could leave of the base offset of a batch at
// that position another one that is believed: it lies in two sectors, of which
// the first may keep the zeros that were there, and without them it is still not
// below next, the offset after the batch before. Where no offset is left out that
// cannot be. A new segment begins in one sector, and this is due a few times at
// most in the life of a log: when a gap passes a power of 256.
func tearable(position, next, first int64) bool {
	const sector, size = 512, 8
	inFirst := sector - position%sector // bytes of the base offset
	if inFirst >= size {
		return false
	}
	left := first & (1<<(8*(size-inFirst)) - 1)
	return left != first && left >= next
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
	next, err := segment.Create(l.configFor(n), base)
	if err != nil {
		return err
	}
	if err := next.Reserve(n); err != nil {
		return errors.Join(err, next.Remove())
	}
	old := l.mu.active
	if err := old.Seal(); err != nil {
		err = errors.Join(err, next.Remove())
		if errors.Is(err, vfs.ErrFault) {
			return l.failLocked(err)
		}
		return err
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

// stickLocked is failLocked in the middle of changing which segments there are.
func (l *Log) stickLocked(cause error) error {
	l.mu.stuck = l.failLocked(cause)
	return l.mu.stuck
}

func (l *Log) fail(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failLocked(cause)
}
