package broker

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// Stamped is the offset of a record with its time and leader epoch.
type Stamped struct {
	Offset      int64
	Time        time.Time
	LeaderEpoch int32 // -1 for none
}

// OffsetAt is the first record at or after t of those that the level shows. ok
// is false if there is none.
func (p *Partition) OffsetAt(level log.Isolation, t time.Time) (at Stamped, ok bool, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	l, err := p.Log()
	if err != nil {
		return Stamped{}, false, err
	}
	offset, err := l.OffsetAt(t)
	if err != nil {
		return Stamped{}, false, storageError(err)
	}
	if offset >= l.Isolated(level).End() {
		return Stamped{}, false, nil
	}
	v, err := l.Borrow(offset, 1)
	switch {
	case err == io.EOF, errors.Is(err, log.ErrTrimmed), errors.Is(err, log.ErrBeyond): // dropped in the meantime
		return Stamped{}, false, nil
	case err != nil:
		return Stamped{}, false, storageError(err)
	}
	defer v.Release()
	var d record.Decoder
	for b := range v.Batches() {
		for r, err := range d.Records(b) {
			if err != nil {
				return Stamped{}, false, storageError(err)
			}
			if r.Offset >= offset && !r.Time.Before(t.Truncate(time.Millisecond)) {
				return Stamped{r.Offset, r.Time, b.LeaderEpoch}, true, nil
			}
		}
	}
	return Stamped{}, false, nil
}

// Newest is the first record with the largest time there is. To a level that
// does not show all yet there is none: it may be among what is not decided.
func (p *Partition) Newest(level log.Isolation) (at Stamped, ok bool, err error) {
	l, err := p.Log()
	if err != nil || l.Isolated(level).End() < l.Isolated(log.ReadUncommitted).End() {
		return Stamped{}, false, err
	}
	first, segments := l.First(), l.Segments()
	segments = slices.DeleteFunc(segments, func(s log.SegmentInfo) bool { return s.Next <= first })
	at, ok, err = p.atNewest(level, segments)
	if ok || err != nil || len(segments) == 0 || segments[0].Base >= first {
		return at, ok, err
	}
	// The record that had it was deleted, and its segment was not.
	if segments[0].MaxTime, err = newestFrom(l, first, segments[0].Next); err != nil {
		return Stamped{}, false, err
	}
	return p.atNewest(level, segments)
}

func (p *Partition) atNewest(level log.Isolation, segments []log.SegmentInfo) (Stamped, bool, error) {
	var newest time.Time
	for _, s := range segments {
		if s.MaxTime.After(newest) {
			newest = s.MaxTime
		}
	}
	if newest.IsZero() {
		return Stamped{}, false, nil
	}
	return p.OffsetAt(level, newest)
}

// newestFrom is the largest time of the records in [from, to), which are read.
func newestFrom(l *log.Log, from, to int64) (newest time.Time, err error) {
	for r, err := range l.From(from) {
		switch {
		case errors.Is(err, log.ErrTrimmed): // dropped in the meantime
			return time.Time{}, nil
		case err != nil:
			return time.Time{}, storageError(err)
		case r.Offset >= to:
			return newest, nil
		case r.Time.After(newest):
			newest = r.Time
		}
	}
	return newest, nil
}

// EpochOf is the leader epoch of an offset, -1 if it is not known.
func (p *Partition) EpochOf(offset int64) int32 {
	epoch := int32(-1)
	if p.log == nil {
		return epoch
	}
	for i, e := range p.log.LeaderEpochs() {
		if i == 0 || e.Start <= offset {
			epoch = e.Epoch
		}
	}
	return epoch
}
