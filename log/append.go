package log

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/record"
)

// Append adds the records as one atomic batch and returns the offset of the
// first; the others follow it without a gap. When it returns they survive the
// end of the process, kill -9 included, but not yet a loss of power: see
// AppendSync and Sync. Without records it does nothing and returns End.
//
// A record without a time gets the present. The records' bytes are copied.
//
// It fails whole, with nothing appended and first -1: record.ErrTooLarge for a batch above
// MaxBatchBytes or SegmentBytes, record.ErrInvalid for a record that cannot be
// written, or without a key where Options.Compaction wants one, the system's
// ENOSPC when the disk is full (it works again when there
// is room), ErrFailed, ErrReadOnly, ErrClosed.
func (l *Log) Append(records ...record.Record) (first int64, err error) {
	first, _, err = l.appendRecords(records)
	return first, err
}

// AppendSync is Append that returns when the records survive a loss of power.
// Calls at the same time share one sync.
//
// If first is not -1 the records are in the log, from there on, whatever the
// error: the sync failed, or ctx ended first, and it is unknown whether they are
// durable. Sync is then what to try again, unless it is ErrFailed.
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
		if err := l.writable(); err != nil {
			return -1, 0, err
		}
		end := l.End()
		return end, end, nil
	}
	if first, ok, err := l.appendInPlace(records); ok || err != nil {
		return first, first + int64(len(records)), err
	}
	b := l.builders.Get().(*record.Builder)
	defer l.builders.Put(b)
	raw, err := l.encode(b, records)
	if err != nil {
		return -1, 0, err
	}
	return l.appendEncoded(raw)
}

// encode builds the batch, outside any lock. The clock is read at most once.
func (l *Log) encode(b *record.Builder, records []record.Record) ([]byte, error) {
	var now time.Time
	set := l.settings.Load()
	o := record.BatchOptions{Codec: set.Compression, TimestampType: set.TimestampType, MaxBytes: l.opts.MaxBatchBytes}
	if o.TimestampType == record.LogAppendTime {
		now = l.opts.Env.Now()
		o.AppendTime = now
	}
	b.Reset(o)
	for i := range records {
		r := &records[i]
		if err := l.checkKey(r); err != nil {
			return nil, fmt.Errorf("record %d of %d: %w", i, len(records), err)
		}
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

var errNoKey = fmt.Errorf("%w: it has no key, and the log is compacted: give it one, which may be empty", record.ErrInvalid)

// checkKey refuses a record that compaction could not keep.
func (l *Log) checkKey(r *record.Record) error {
	if l.settings.Load().Compaction != nil && r.Key == nil {
		return errNoKey
	}
	return nil
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
	// Time is when the log took a LogAppendTime batch, the largest time in a
	// Duplicate that has one, and zero otherwise.
	Time time.Time
	// Duplicate says that the batch was in the log already, at First, and was
	// not appended again.
	Duplicate bool
}

// AppendBatch adds one encoded batch, a broker's path: what Append does after
// encoding. raw is copied, but first put right in place: the base offset and,
// from a client, as Kafka's leader does, the leader epoch, the timestamp type
// and the largest timestamp.
//
// The batch is verified whole before: record.ErrCorrupt, ErrUnsupportedMagic
// and ErrInvalid refuse it, as do the errors of Append. A batch of an idempotent
// producer (KIP-98) that was appended before, one of its last five, is answered
// with where it went; one that does not follow them is ErrOutOfOrderSequence,
// ErrProducerFenced or ErrTransactionState.
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
	if from == FromClient {
		return l.appendFromClient(b)
	}
	m, err := markerOf(b)
	if err != nil {
		return Appended{}, err
	}
	return l.place(b, placing{origin: producers.Leader, keepOffset: true, marker: m})
}

// placing is how a batch gets its place.
type placing struct {
	origin     producers.Origin
	keepOffset bool
	marker     *producers.Marker // of a control batch that ends a transaction
	raised     bool              // the marker's epoch is one above its transaction's
}

// appendEncoded appends a batch built here.
func (l *Log) appendEncoded(raw []byte) (first, next int64, err error) {
	b, err := record.Verified(raw)
	if err != nil {
		return -1, 0, err
	}
	a, err := l.place(b, placing{})
	if err != nil {
		return -1, 0, err
	}
	return a.First, a.Last + 1, nil
}

// place gives a batch its place at the end of the log and publishes it.
func (l *Log) place(b record.Batch, p placing) (a Appended, err error) {
	if n, limit := int64(b.Size), l.settings.Load().SegmentBytes; n > limit {
		return a, fmt.Errorf("%w: the batch has %d bytes, a segment at most %d: split it or raise SegmentBytes",
			record.ErrTooLarge, n, limit)
	}
	if !l.marked.Load() {
		if err := l.mark(); err != nil {
			return a, err
		}
	}
	a, rolled, err := l.placeMarked(b, &p)
	if err == nil {
		l.appended.Notify()
	}
	if rolled.Reason != "" {
		tell(l, l.opts.Trace.Rolled, rolled)
	}
	return a, err
}

func (l *Log) placeMarked(b record.Batch, p *placing) (a Appended, rolled RollEvent, err error) {
	h := &b.BatchHeader
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return a, rolled, err
	}
	end := l.end.Load()
	first := end
	if p.keepOffset {
		if h.BaseOffset < end {
			return a, rolled, fmt.Errorf("%w: base offset %d is below the log end offset %d", record.ErrInvalid, h.BaseOffset, end)
		}
		first = h.BaseOffset
	} else {
		h.LeaderEpoch = l.mu.state.led // now: it may have changed since the batch was built
		record.SetLeaderEpoch(b.Bytes(), h.LeaderEpoch)
	}
	if reach := first - end + int64(h.LastOffsetDelta); reach > math.MaxInt32 || first > math.MaxInt64-math.MaxInt32 {
		return a, rolled, fmt.Errorf("%w: offset %d is out of reach of a log that ends at %d; DropAll lets one start there", record.ErrInvalid, first, end)
	}
	if h.ProducerID >= 0 {
		dup, err := l.checkProducerLocked(h, p)
		if dup != nil {
			a = Appended{First: dup.First, Last: dup.Last, Duplicate: true}
			if dup.Timestamp >= 0 {
				a.Time = time.UnixMilli(dup.Timestamp)
			}
			return a, rolled, nil
		}
		if err != nil {
			return a, rolled, err
		}
	}
	if err := l.mendEpochsLocked(); err != nil {
		return a, rolled, err
	}
	if rolled, err = l.roomLocked(int64(b.Size), h, first); err != nil {
		return a, rolled, err
	}
	epochs, led, newEpoch := l.mu.state.epochs, l.mu.state.led, h.LeaderEpoch > l.epoch.Load()
	if newEpoch {
		if err := l.noteEpochLocked(h.LeaderEpoch, first); err != nil {
			return a, rolled, err
		}
	}
	if err := l.mu.active.Append(b.Bytes(), h, first); err != nil {
		if newEpoch {
			l.mu.state.epochs, l.mu.state.led, l.mu.epochsBehind = epochs, led, true
		}
		if errors.As(err, new(*fs.PathError)) {
			return a, rolled, err // it could not be written, and is not there
		}
		return a, rolled, l.failLocked(err)
	}
	invariants.Pause("appended, not published")
	last := first + int64(h.LastOffsetDelta)
	if h.ProducerID >= 0 {
		l.takeProducerLocked(h, p, first)
	}
	if newEpoch || h.Transactional() {
		l.atOnceLocked(func() {
			l.end.Store(last + 1)
			l.publishLocked()
		})
	} else {
		l.end.Store(last + 1)
	}
	return Appended{First: first, Last: last}, rolled, nil
}
