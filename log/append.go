package log

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seglog/seglog/record"
)

// Append adds the records as one atomic batch and returns the offset of the
// first; the others follow it without a gap. When it returns they survive the
// end of the process, kill -9 included, but not yet a loss of power: see
// AppendSync and Sync. Without records it does nothing and returns End.
//
// A record without a time gets the present. The records' bytes are copied.
//
// It fails whole, with nothing appended: record.ErrTooLarge for a batch above
// MaxBatchBytes or SegmentBytes, record.ErrInvalid for a record that cannot be
// written, the system's ENOSPC when the disk is full (it works again when there
// is room), ErrFailed, ErrReadOnly, ErrClosed.
func (l *Log) Append(records ...record.Record) (first int64, err error) {
	first, _, err = l.appendRecords(records)
	return first, err
}

// AppendSync is Append that returns when the records survive a loss of power.
// Calls at the same time share one sync.
//
// If the sync fails or ctx ends first, the records are in the log all the same,
// from first on, and it is unknown whether they are durable.
func (l *Log) AppendSync(ctx context.Context, records ...record.Record) (first int64, err error) {
	first, next, err := l.appendRecords(records)
	if err != nil {
		return first, err
	}
	return first, l.syncTo(ctx, next)
}

// newBuilder fills the pool.
func (l *Log) newBuilder() any { return new(record.Builder) }

func (l *Log) appendRecords(records []record.Record) (first, next int64, err error) {
	if len(records) == 0 {
		end := l.End()
		return end, end, l.writable()
	}
	b := l.builders.Get().(*record.Builder)
	defer l.builders.Put(b)
	raw, err := l.encode(b, records)
	if err != nil {
		return 0, 0, err
	}
	return l.appendEncoded(raw)
}

// encode builds the batch, outside any lock. The clock is read at most once.
func (l *Log) encode(b *record.Builder, records []record.Record) ([]byte, error) {
	var now time.Time
	o := record.BatchOptions{Codec: l.opts.Compression, TimestampType: l.opts.TimestampType, MaxBytes: l.opts.MaxBatchBytes}
	if o.TimestampType == record.LogAppendTime {
		now = l.opts.Env.Now()
		o.AppendTime = now
	}
	b.Reset(o)
	for i := range records {
		r := &records[i]
		if r.Time.IsZero() {
			if now.IsZero() {
				now = l.opts.Env.Now()
			}
			stamped := *r
			stamped.Time = now
			r = &stamped
		}
		if err := b.Add(r); err != nil {
			return nil, fmt.Errorf("record %d of %d: %w", i, len(records), err)
		}
	}
	return b.Build()
}

// Source says where an encoded batch comes from, and so what is demanded of it.
type Source int

const (
	// FromClient is a batch as a producer sends it: one batch, no control
	// batch, offsets without gaps. It gets the next offset.
	FromClient Source = iota
	// FromLeader is a batch as another replica's log has it: its offsets are
	// kept and must not be below End.
	FromLeader
)

// Appended tells where an encoded batch went.
type Appended struct {
	First, Last int64
	// Time is when the log took a LogAppendTime batch, zero otherwise.
	Time time.Time
}

// AppendBatch adds one encoded batch, a broker's path: what Append does after
// encoding. raw is copied, but first, from a client, put right in place as
// Kafka's leader does: the timestamp type and the largest timestamp, if wrong.
//
// The batch is verified whole before: record.ErrCorrupt, ErrUnsupportedMagic
// and ErrInvalid refuse it, as do the errors of Append.
func (l *Log) AppendBatch(raw []byte, from Source) (Appended, error) {
	b, err := record.Parse(raw)
	if err == nil && b.Size != len(raw) {
		err = fmt.Errorf("%w: %d bytes follow the batch of %d", record.ErrInvalid, len(raw)-b.Size, b.Size)
	}
	if errors.Is(err, record.ErrShort) {
		err = fmt.Errorf("%w: %d bytes are not a whole batch", record.ErrInvalid, len(raw))
	}
	if err != nil {
		return Appended{}, err
	}
	if from == FromLeader {
		first, next, err := l.place(raw, &b.BatchHeader, true)
		return Appended{First: first, Last: next - 1}, err
	}
	return l.appendFromClient(b)
}

// appendEncoded appends a batch built here.
func (l *Log) appendEncoded(raw []byte) (first, next int64, err error) {
	h, err := record.ParseHeader(raw)
	if err != nil {
		return 0, 0, err
	}
	return l.place(raw, &h, false)
}

// place gives a batch its place at the end of the log and publishes it.
func (l *Log) place(raw []byte, h *record.BatchHeader, keepOffset bool) (first, next int64, err error) {
	if n := int64(len(raw)); n > l.opts.SegmentBytes {
		return 0, 0, fmt.Errorf("%w: the batch has %d bytes, a segment at most %d: split it or raise SegmentBytes",
			record.ErrTooLarge, n, l.opts.SegmentBytes)
	}
	if !l.marked.Load() {
		if err := l.mark(); err != nil {
			return 0, 0, err
		}
	}
	first, next, rolled, err := l.placeMarked(raw, h, keepOffset)
	if err == nil {
		l.appended.Notify()
	}
	if rolled.Reason != "" {
		call(l.opts.Trace.Rolled, rolled)
	}
	return first, next, err
}

func (l *Log) placeMarked(raw []byte, h *record.BatchHeader, keepOffset bool) (first, next int64, rolled RollEvent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return 0, 0, rolled, err
	}
	first = l.end.Load()
	if keepOffset {
		if h.BaseOffset < first {
			return 0, 0, rolled, fmt.Errorf("%w: base offset %d is below the log end offset %d", record.ErrInvalid, h.BaseOffset, first)
		}
		first = h.BaseOffset
	}
	if reach := first - l.end.Load() + int64(h.LastOffsetDelta); reach > math.MaxInt32 || first > math.MaxInt64-math.MaxInt32 {
		return 0, 0, rolled, fmt.Errorf("%w: offset %d is out of reach of a segment that begins at %d", record.ErrInvalid, first, l.end.Load())
	}
	if rolled, err = l.roomLocked(int64(len(raw)), h, first); err != nil {
		return 0, 0, rolled, err
	}
	if err := l.mu.active.Append(raw, h, first); err != nil {
		return 0, 0, rolled, l.failLocked(err)
	}
	next = first + int64(h.LastOffsetDelta) + 1
	l.end.Store(next)
	return first, next, rolled, nil
}
