package record

import (
	"math"
	"slices"
	"time"
)

// Producer is the identity of an idempotent or transactional producer
// (KIP-98).
type Producer struct {
	ID    int64
	Epoch int16

	// Sequence numbers the batch's first record; the others count on from
	// it, with 0 after 2^31-1. A transaction's marker has -1.
	Sequence int32
}

func (p *Producer) check() error {
	if p.ID < 0 || p.Epoch < 0 || p.Sequence < -1 {
		return invalidf("producer %+v", *p)
	}
	return nil
}

// BatchOptions is what a batch says of itself beside its records. The zero
// value is an uncompressed batch at offset 0 with the records' own times.
type BatchOptions struct {
	BaseOffset    int64
	LeaderEpoch   int32 // -1 if unknown
	Codec         Codec
	TimestampType TimestampType
	AppendTime    time.Time // of all records under LogAppendTime; not looked at under CreateTime
	Producer      *Producer // nil is none; read by Reset only
	Transactional bool
	Control       bool

	// MaxBytes limits the encoded batch, header included, before
	// compression. 0 is DefaultMaxBytes; nothing is above MaxBatchSize.
	MaxBytes int
}

// Builder encodes one batch at a time. The zero value is ready for a batch
// with zero BatchOptions. It owns its buffers and reuses them. It is not for
// concurrent use.
type Builder struct {
	head       BatchHeader // as far as it is known
	appendTime int64       // milliseconds, for LogAppendTime
	limit      int
	bad        error // what is wrong with the options; returned by Add and Build

	buf    []byte // room for a header, then the encoded records
	packed []byte // the same with the records compressed, if they are
	out    []byte // what Build returned
	built  bool
}

// Reset starts a batch. What Build returned before is no longer valid. Wrong
// options are reported by the next Add or Build, as ErrInvalid.
func (b *Builder) Reset(o BatchOptions) {
	b.head, b.appendTime, b.bad = o.header()
	b.limit = o.MaxBytes
	if b.limit <= 0 {
		b.limit = DefaultMaxBytes
	}
	b.limit = min(b.limit, MaxBatchSize)
	b.buf = append(b.buf[:0], make([]byte, HeaderSize)...)
	b.built = false
}

// Add encodes r as the batch's next record, with the offset after that of the
// record before. Its bytes are copied. A refused record leaves the Builder as
// it was.
//
// The error is ErrTooLarge if the batch would pass its limits, which another
// batch need not, and ErrInvalid for a record that no batch can hold or if
// Build has been called.
func (b *Builder) Add(r *Record) error {
	if len(b.buf) == 0 {
		b.Reset(BatchOptions{})
	}
	if b.bad != nil {
		return b.bad
	}
	if b.built {
		return invalidf("record added to a finished batch")
	}
	ms, ok := toMillis(r.Time)
	if !ok {
		return timeError("time", r.Time.Unix())
	}
	h := &b.head
	e := encoding{offsetDelta: h.Count}
	if h.Count > 0 {
		e.timeDelta = ms - h.BaseTimestamp
	}
	size, err := e.measure(r, b.limit-len(b.buf))
	if err != nil {
		return err
	}
	n := len(b.buf)
	b.buf = slices.Grow(b.buf, size)[:n+size]
	e.put(b.buf[n:], r)
	if h.Count == 0 {
		h.BaseTimestamp = ms
	}
	h.MaxTimestamp = max(h.MaxTimestamp, ms)
	h.Count++
	return nil
}

// Grow makes room for a batch of n bytes before compression, and drops the one
// there is.
func (b *Builder) Grow(n int) { b.buf = slices.Grow(b.buf[:0], n) }

// SetProducer says whose batch it is, as BatchOptions.Producer does, before
// Build.
func (b *Builder) SetProducer(p Producer) {
	if err := p.check(); err != nil && b.bad == nil {
		b.bad = err
	}
	b.head.ProducerID, b.head.ProducerEpoch, b.head.BaseSequence = p.ID, p.Epoch, p.Sequence
}

// Count is the number of records added.
func (b *Builder) Count() int { return int(b.head.Count) }

// Size is the number of bytes of the batch so far, header included, before
// compression.
func (b *Builder) Size() int { return max(len(b.buf), HeaderSize) }

// Build finishes the batch and returns it, valid until the next Reset. The
// caller may write to it, as [SetBaseOffset] does. Calling it again returns
// the same.
//
// The error is ErrInvalid for a batch without records or with wrong options,
// and ErrTooLarge if compression made it larger than a batch can be.
func (b *Builder) Build() ([]byte, error) {
	if b.bad != nil {
		return nil, b.bad
	}
	if b.built {
		return b.out, nil
	}
	h := b.head
	if h.Count == 0 {
		return nil, invalidf("batch without records")
	}
	h.LastOffsetDelta = h.Count - 1
	if h.BaseOffset > math.MaxInt64-1-int64(h.LastOffsetDelta) {
		return nil, invalidf("%d records from offset %d", h.Count, h.BaseOffset)
	}
	if h.TimestampType() == LogAppendTime {
		h.MaxTimestamp = b.appendTime
	}
	raw := b.buf
	if c := h.Codec(); c != None {
		var err error
		raw = append(b.packed[:0], raw[:HeaderSize]...)
		if raw, err = compress(c, raw, b.buf[HeaderSize:]); err != nil {
			return nil, err
		}
		b.packed = raw
	}
	if len(raw) > MaxBatchSize {
		return nil, tooLargef("batch of %d bytes, limit %d", len(raw), MaxBatchSize)
	}
	h.Size = len(raw)
	h.put(raw)
	b.out, b.built = raw[:len(raw):len(raw)], true
	return b.out, nil
}

// header checks the options and gives the header they determine, and the
// append time in milliseconds.
func (o *BatchOptions) header() (h BatchHeader, appendTime int64, err error) {
	h = BatchHeader{
		BaseOffset:    o.BaseOffset,
		LeaderEpoch:   o.LeaderEpoch,
		MaxTimestamp:  noTimestamp,
		Attributes:    int16(o.Codec),
		ProducerID:    -1,
		ProducerEpoch: -1,
		BaseSequence:  -1,
	}
	if o.BaseOffset < 0 {
		return h, 0, invalidf("base offset %d, want at least 0", o.BaseOffset)
	}
	if !o.Codec.valid() {
		return h, 0, invalidf("codec %d", int8(o.Codec))
	}
	switch o.TimestampType {
	case CreateTime:
	case LogAppendTime:
		h.Attributes |= attrLogAppendTime
		ms, ok := toMillis(o.AppendTime)
		if !ok || ms == noTimestamp {
			return h, 0, timeError("append time", o.AppendTime.Unix())
		}
		appendTime = ms
	default:
		return h, 0, invalidf("timestamp type %d", int8(o.TimestampType))
	}
	if p := o.Producer; p != nil {
		if err := p.check(); err != nil {
			return h, 0, err
		}
		h.ProducerID, h.ProducerEpoch, h.BaseSequence = p.ID, p.Epoch, p.Sequence
	}
	if o.Transactional {
		h.Attributes |= attrTransactional
	}
	if o.Control {
		h.Attributes |= attrControl
	}
	return h, appendTime, nil
}
