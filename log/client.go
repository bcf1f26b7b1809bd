package log

import (
	"fmt"
	"sync"
	"time"

	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/record"
)

// decoders serve validation and lookups, which keep nothing they decode.
var decoders = sync.Pool{New: func() any { return new(record.Decoder) }}

// appendFromClient checks a producer's batch as Kafka's leader does
// (LogValidator) and appends it.
func (l *Log) appendFromClient(b record.Batch) (Appended, error) {
	switch {
	case b.Control():
		return Appended{}, fmt.Errorf("%w: a client may not send control batches", record.ErrInvalid)
	case b.BaseOffset != 0:
		return Appended{}, fmt.Errorf("%w: base offset %d, want 0", record.ErrInvalid, b.BaseOffset)
	case b.Count == 0 || int64(b.Count) != int64(b.LastOffsetDelta)+1:
		return Appended{}, fmt.Errorf("%w: %d records in %d offsets", record.ErrInvalid, b.Count, int64(b.LastOffsetDelta)+1)
	}
	set := l.settings.Load()
	maxTime, err := l.checkRecords(b, set)
	if err != nil {
		return Appended{}, err
	}
	raw := b.Bytes()
	var stamp time.Time
	switch {
	case set.TimestampType == record.LogAppendTime:
		stamp = time.UnixMilli(l.opts.Env.Now().UnixMilli())
		record.SetLogAppendTime(raw, stamp.UnixMilli())
	case b.TimestampType() != record.CreateTime || b.MaxTimestamp != maxTime:
		record.SetCreateTime(raw, maxTime)
	}
	if b, err = record.Verified(raw); err != nil {
		return Appended{}, err
	}
	a, err := l.place(b, placing{origin: producers.Client})
	if err == nil && !a.Duplicate {
		a.Time = stamp
	}
	return a, err
}

// checkRecords walks the records, which have to be well formed, numbered without
// gaps, and of a compacted log keyed, for the largest of their own times in ms.
func (l *Log) checkRecords(b record.Batch, set *Options) (int64, error) {
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	d.MaxBytes = l.opts.MaxBatchBytes
	largest, next := int64(-1), b.BaseOffset
	earliest, latest := set.timeBounds()
	own := b
	own.Attributes &^= logAppendTimeBit // their own times, whatever the batch says
	for r, err := range d.Records(own) {
		switch {
		case err != nil:
			return 0, err
		case r.Offset != next:
			return 0, fmt.Errorf("%w: record at offset %d, want %d", record.ErrInvalid, r.Offset, next)
		}
		if err := l.checkKey(&r); err != nil {
			return 0, fmt.Errorf("record %d of %d: %w", r.Offset, b.Count, err)
		}
		next++
		if !r.Time.IsZero() {
			ms := r.Time.UnixMilli()
			if ms < earliest || ms > latest {
				return 0, fmt.Errorf("%w: record %d of %d has %d, want %d to %d: TimeBefore and TimeAfter bound it",
					ErrTimestamp, r.Offset, b.Count, ms, earliest, latest)
			}
			largest = max(largest, ms)
		}
	}
	return largest, nil
}

// logAppendTimeBit is the attribute that gives all records the batch's time.
const logAppendTimeBit = 1 << 3
