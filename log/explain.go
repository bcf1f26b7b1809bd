package log

import (
	"errors"
	"io"
	"time"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// Explanation is the way of one lookup by offset, for people to look at.
type Explanation struct {
	Offset   int64
	Segments int     // in the log
	Compared []int64 // bases that the search compared with Offset, in order
	Segment  int64   // base of the one it found
	Path     string  // of its .log
	Lookup   segment.Lookup
	Batch    record.BatchHeader // the one at Lookup.Position
	Found    bool               // Batch holds Offset; otherwise it is the next one, or none (Size 0)
}

// Explain looks an offset in [First, End) up as Read does, and tells how.
func (l *Log) Explain(offset int64) (Explanation, error) {
	var re rereader
	for {
		if offset >= l.End() {
			return Explanation{Offset: offset}, l.offsetError(offset, ErrBeyond)
		}
		r := reader{l: l, place: place{next: offset}}
		p, err := r.seek()
		if err != nil {
			if re.again(l, err) {
				continue
			}
			return Explanation{Offset: offset}, err
		}
		p.Release()
		e, err := l.explain(offset)
		if re.again(l, err) {
			continue
		}
		if !errors.Is(err, segment.ErrGone) {
			return e, err
		}
		if err := l.lookAgain(); err != nil {
			return e, err
		}
	}
}

func (l *Log) explain(offset int64) (Explanation, error) {
	e := Explanation{Offset: offset}
	set := l.set.Load()
	s := set.floor(offset, &e.Compared)
	if s == nil {
		return e, segment.ErrGone // dropped since seek
	}
	e.Segments, e.Segment, e.Path = set.len(), s.Base(), s.Path()
	p, err := s.Pin()
	if err != nil {
		return e, err
	}
	defer p.Release()
	if e.Lookup, err = p.Explain(offset); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return e, err
	}
	var b record.Batch
	if _, err := p.Read(&b, e.Lookup.Position, s.Base(), nil); err != nil {
		return e, err
	}
	e.Batch, e.Found = b.BatchHeader, b.BaseOffset <= offset
	return e, nil
}

// TimeExplanation is the way of one lookup by time, for people to look at.
type TimeExplanation struct {
	Time     time.Time
	Segments int           // in the log
	Skipped  []SegmentInfo // whose largest time is earlier, or that are below First
	Segment  SegmentInfo   // the last one looked into
	Lookup   segment.TimeLookup
	Offset   int64 // the answer: End where nothing is as late
	Found    bool
}

// ExplainAt looks a time up as OffsetAt does, and tells how.
func (l *Log) ExplainAt(t time.Time) (TimeExplanation, error) {
	var re rereader
	for {
		e := TimeExplanation{Time: t, Segments: l.set.Load().len(), Offset: l.End()}
		if l.closed.Load() {
			return e, ErrClosed
		}
		offset, found, err := l.offsetAt(t.UnixMilli(), &e)
		if errors.Is(err, segment.ErrGone) {
			if err = l.lookAgain(); err == nil {
				continue
			}
		}
		if re.again(l, err) {
			continue
		}
		if found {
			e.Offset, e.Found = offset, true
		}
		return e, err
	}
}
