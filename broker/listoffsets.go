package broker

import (
	"errors"
	"io"
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
	var newest time.Time
	for _, s := range l.Segments() {
		if s.Next > l.First() && s.MaxTime.After(newest) {
			newest = s.MaxTime
		}
	}
	if newest.IsZero() {
		return Stamped{}, false, nil
	}
	return p.OffsetAt(level, newest)
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
