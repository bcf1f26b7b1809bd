package log

import (
	"errors"
	"time"

	"github.com/seglog/seglog/segment"
)

// OffsetAt is the first offset in [First, End) whose record's time is at or
// after t, or End where every record is earlier: where to start reading for
// what happened since t. Times are compared in milliseconds. Records need not
// be in the order of their times.
func (l *Log) OffsetAt(t time.Time) (int64, error) {
	var re rereader
	for {
		if l.closed.Load() {
			return 0, ErrClosed
		}
		h := l.horizon(UpToEnd)
		offset, found, err := l.offsetAt(t.UnixMilli(), nil)
		if errors.Is(err, segment.ErrGone) {
			if err = l.lookAgain(); err == nil {
				continue
			}
		}
		if re.again(l, err) {
			continue
		}
		switch {
		case !l.holds(h):
		case err != nil:
			return 0, err
		case found:
			return min(offset, h.bound), nil
		default:
			return h.bound, nil
		}
	}
}

// offsetAt looks through the segments in turn, oldest first: the times of
// records need not ascend, so neither do the largest ones of segments.
func (l *Log) offsetAt(ms int64, way *TimeExplanation) (offset int64, found bool, err error) {
	set, first := l.set.Load(), l.First()
	for s := set.oldest(); s != nil; s = set.after(s.Base()) {
		if s.MaxTime() < ms && s.Lost() == nil || s.Next() <= first {
			if way != nil {
				way.Skipped = append(way.Skipped, l.info(s))
			}
			continue
		}
		p, err := s.Pin()
		if err != nil {
			return 0, false, err
		}
		var lookup *segment.TimeLookup
		if way != nil {
			way.Segment, lookup = l.info(s), &way.Lookup
		}
		offset, found, err := p.FindTime(ms, first, lookup)
		p.Release()
		if found || err != nil {
			return offset, found, err
		}
	}
	return 0, false, nil
}
