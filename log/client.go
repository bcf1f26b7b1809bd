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
	maxTime, err := l.largestTime(b)
	if err != nil {
		return Appended{}, err
	}
	raw := b.Bytes()
	var stamp time.Time
	switch {
	case l.opts.TimestampType == record.LogAppendTime:
		stamp = time.UnixMilli(l.opts.Env.Now().UnixMilli())
		record.SetLogAppendTime(raw, stamp.UnixMilli())
	case b.TimestampType() != record.CreateTime || b.MaxTimestamp != maxTime:
		record.SetCreateTime(raw, maxTime)
	}
	record.SetLeaderEpoch(raw, l.writingEpoch())
	if b, err = record.Verified(raw); err != nil {
		return Appended{}, err
	}
	a, err := l.place(b, placing{origin: producers.Client})
	if err == nil && !a.Duplicate {
		a.Time = stamp
	}
	return a, err
}

// largestTime walks the records, which have to be well formed and numbered
// without gaps, for the largest of their own times in ms.
func (l *Log) largestTime(b record.Batch) (int64, error) {
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	d.MaxBytes = l.opts.MaxBatchBytes
	largest, next := int64(-1), b.BaseOffset
	own := b
	own.Attributes &^= logAppendTimeBit // their own times, whatever the batch says
	for r, err := range d.Records(own) {
		switch {
		case err != nil:
			return 0, err
		case r.Offset != next:
			return 0, fmt.Errorf("%w: record at offset %d, want %d", record.ErrInvalid, r.Offset, next)
		}
		next++
		if !r.Time.IsZero() {
			largest = max(largest, r.Time.UnixMilli())
		}
	}
	return largest, nil
}

// logAppendTimeBit is the attribute that gives all records the batch's time.
const logAppendTimeBit = 1 << 3
