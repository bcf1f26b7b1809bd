package log

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/seglog/seglog/record"
)

// Isolation is how far a reader reads, and what it is handed.
type Isolation int

const (
	// UpToEnd reads everything appended, as another replica does and as the
	// methods of Log do.
	UpToEnd Isolation = iota
	// ReadUncommitted reads what is below the high watermark
	// (isolation.level=read_uncommitted).
	ReadUncommitted
	// ReadCommitted reads what is below the last stable offset and passes over
	// the records of aborted transactions (read_committed).
	ReadCommitted
)

// Isolated reads a log at an isolation level. It is a small value to be copied.
// Its methods are those of Log, with End for the level's bound.
type Isolated struct {
	l     *Log
	level Isolation
}

// Isolated is the log as readers at that level see it.
func (l *Log) Isolated(level Isolation) Isolated { return Isolated{l, level} }

// End is the offset up to which the level reads.
func (i Isolated) End() int64 { return i.l.bound(i.level) }

func (l *Log) bound(level Isolation) int64 {
	switch level {
	case ReadUncommitted:
		return l.HighWatermark()
	case ReadCommitted:
		return l.LastStable()
	}
	return l.End()
}

// Read is [Log.Read]; an offset at or above End is ErrBeyond, one in an aborted
// transaction ErrNoRecord to a reader of committed records. A batch that End
// lies inside is not below it.
func (i Isolated) Read(offset int64) (record.Record, error) {
	rec, _, err := i.ReadInto(offset, nil)
	return rec, err
}

// ReadInto is [Log.ReadInto], as Read is [Log.Read].
func (i Isolated) ReadInto(offset int64, buf []byte) (rec record.Record, _ []byte, err error) {
	r := reader{l: i.l, place: place{next: offset}}
	h, buf, err := r.batch(i.level, buf)
	switch {
	case err == io.EOF && (offset >= h.bound || r.b.Size > 0 && r.b.BaseOffset <= offset):
		return rec, buf, i.l.offsetError(offset, ErrBeyond)
	case err != nil && err != io.EOF:
		return rec, buf, err
	}
	if err == nil && r.b.BaseOffset <= offset && !h.hides(&r.b.BatchHeader) {
		if ok, err := r.record(offset, &rec); ok || err != nil {
			return rec, buf, err
		}
	}
	return rec, buf, i.l.offsetError(offset, ErrNoRecord)
}

// From is [Log.From]. An offset above End, but not above the log's, is where
// nothing is to be read yet.
func (i Isolated) From(offset int64) iter.Seq2[record.Record, error] {
	return i.l.records(i.level, offset, func(int64, int64) error { return io.EOF })
}

// Tail is [Log.Tail]; it is also woken when End moves for another reason than
// an append.
func (i Isolated) Tail(ctx context.Context, offset int64) iter.Seq2[record.Record, error] {
	l := i.l
	if l.opts.Mode == ReadOnly {
		return l.records(i.level, offset, l.pollPast(ctx, i.level))
	}
	return l.records(i.level, offset, func(next, want int64) error {
		return l.appended.Wait(ctx, func() bool { return l.bound(i.level) >= want || l.end.Load() < next })
	})
}

// Borrow is [Log.Borrow]. Records of aborted transactions are in the View all
// the same: Aborted lists them, for whoever decodes it to pass over.
func (i Isolated) Borrow(offset, maxBytes int64) (*View, error) {
	return i.l.borrow(i.level, offset, maxBytes)
}

// OffsetAt is [Log.OffsetAt], at most End.
func (i Isolated) OffsetAt(t time.Time) (int64, error) {
	offset, err := i.l.OffsetAt(t)
	return min(offset, i.End()), err
}

// hides says whether the records of a batch are none for the horizon's reader:
// markers, and those of transactions that it knows to be aborted.
func (h *horizon) hides(b *record.BatchHeader) bool {
	if b.Control() || !b.Transactional() {
		return b.Control()
	}
	for _, a := range markedFrom(h.aborted, b.BaseOffset+1) {
		if a.ProducerID == b.ProducerID && a.First <= b.BaseOffset {
			return true
		}
		if a.LastStableOffset > b.BaseOffset {
			break // later ones began behind it
		}
	}
	return false
}
