package record

import (
	"iter"
	"time"
)

// DefaultMaxBytes is the limit of a batch's records, decompressed, where the
// caller sets none. Builder and Decoder share it, so that what one accepts
// the other reads.
const DefaultMaxBytes = 64 << 20

// minRecordSize is an encoded record with nothing in it: seven integers of a
// byte each.
const minRecordSize = 7

// Decoder reads the records of batches, one batch at a time. The zero value
// works. It owns the buffer it decompresses into and the slice of headers,
// and reuses both: everything it hands out is valid until its next use, or
// as long as the batch's own bytes are if that ends earlier. It is not for
// concurrent use.
type Decoder struct {
	// MaxBytes limits the decompressed size of a batch's records. 0 is
	// DefaultMaxBytes. A batch beyond it is ErrTooLarge, found before the
	// memory is spent. An uncompressed batch is not limited by it.
	MaxBytes int

	buf     []byte // what batches are decompressed into
	headers []Header

	// The cursor.
	payload   []byte
	pos       int   // where in payload the next record starts
	left      int32 // how many there should be
	prevDelta int32 // offset delta of the last one read, -1 before the first
	lastDelta int32 // the largest an offset delta may be
	base      int64 // offset of delta 0
	baseTime  int64 // milliseconds of delta 0, or of all records under LogAppendTime
	tsType    TimestampType
	millis    int64     // of the last record read
	time      time.Time // the same; neighbours often share one
	err       error     // sticky
}

// Payload returns the encoded records of b, decompressed. They are b's own
// bytes if b is not compressed, else the Decoder's. It does not look at the
// records. It ends any reading in progress.
//
// The error is ErrCorrupt or ErrTooLarge.
func (d *Decoder) Payload(b Batch) ([]byte, error) {
	return d.open(&b)
}

func (d *Decoder) open(b *Batch) ([]byte, error) {
	d.payload, d.pos, d.left, d.err = nil, 0, 0, nil
	stored := b.stored()
	if b.Codec() == None || len(stored) == 0 {
		return stored, nil
	}
	limit := d.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	limit = min(limit, MaxBatchSize-HeaderSize) // what an uncompressed batch could hold
	out, err := decompress(b.Codec(), d.buf[:0], stored, limit)
	if err != nil {
		return nil, err
	}
	d.buf = out
	return out, nil
}

// Reset starts reading the records of b, decompressing them if needed. An
// error is returned by Next as well.
//
// The error is ErrCorrupt or ErrTooLarge.
func (d *Decoder) Reset(b Batch) error {
	payload, err := d.open(&b)
	if err == nil && int64(b.Count)*minRecordSize > int64(len(payload)) {
		err = corruptf("record count %d in %d bytes", b.Count, len(payload))
	}
	if err != nil {
		d.err = err
		return err
	}
	d.payload = payload
	d.left = max(b.Count, 0)
	d.prevDelta, d.lastDelta = -1, b.LastOffsetDelta
	d.base, d.baseTime = b.BaseOffset, b.BaseTimestamp
	d.tsType = b.TimestampType()
	if d.tsType == LogAppendTime {
		d.baseTime = b.MaxTimestamp
	}
	d.millis, d.time = d.baseTime, fromMillis(d.baseTime)
	return nil
}

// Next reads the next record into r, overwriting all of it. It returns false
// at the end, with an error if that is not where the batch should end. After
// an error it keeps returning that error.
//
// Offsets strictly increase and stay within the batch's range; a record that
// breaks this is an error like any other damage. What r points to is valid
// until the next call. The error is ErrCorrupt or ErrTooLarge.
func (d *Decoder) Next(r *Record) (bool, error) {
	if d.left == 0 {
		return false, d.end()
	}
	start := d.pos
	size, i := varint(d.payload, start)
	if i < 0 || size < 0 || int(size) > len(d.payload)-i {
		return false, d.corrupt("length", int64(size), start)
	}
	d.pos = i + int(size)
	body := d.payload[:d.pos] // the record ends where body does, and starts at i

	// Behind a byte of attributes, which have no meaning yet.
	var timeDelta int64
	var delta, keyLen int32
	if at := body[i:]; len(at) > 4 && at[1]|at[2]|at[3] < 0x80 { // all of one byte, the usual case
		timeDelta, delta, keyLen = unzigzag64(uint64(at[1])), unzigzag32(uint32(at[2])), unzigzag32(uint32(at[3]))
		i += 4
	} else {
		timeDelta, i = varlong(body, i+1)
		delta, i = varint(body, i)
		keyLen, i = varint(body, i)
	}
	if i < 0 || delta <= d.prevDelta || delta > d.lastDelta {
		return false, d.corrupt("offset delta", int64(delta), start)
	}
	key, i := bytesAt(body, i, keyLen)
	valueLen, i := varint(body, i)
	if i < 0 {
		return false, d.corrupt("key length", int64(keyLen), start)
	}
	value, i := bytesAt(body, i, valueLen)
	if i < 0 {
		return false, d.corrupt("value length", int64(valueLen), start)
	}
	r.Headers = nil
	if i != len(body)-1 || body[i] != 0 { // not just a header count of 0
		if err := d.readHeaders(body, i); err != nil {
			return false, d.fail(err)
		}
		r.Headers = d.headers
	}
	d.left--
	d.prevDelta = delta
	r.Offset = d.base + int64(delta)
	r.TimestampType = d.tsType
	ms := d.baseTime
	if d.tsType == CreateTime {
		ms += timeDelta
	}
	if ms != d.millis {
		d.millis, d.time = ms, fromMillis(ms)
	}
	r.Time = d.time
	r.Key, r.Value = key, value
	return true, nil
}

// Records returns the records of b in order, those of control batches
// included. Each is valid until the next; an error ends them. The sequence
// may be ranged over once at a time, and again.
func (d *Decoder) Records(b Batch) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := d.Reset(b); err != nil {
			yield(Record{}, err)
			return
		}
		var r Record
		for {
			ok, err := d.Next(&r)
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !ok || !yield(r, nil) {
				return
			}
		}
	}
}

// end is the error, if any, of there being no further record.
func (d *Decoder) end() error {
	if n := len(d.payload) - d.pos; d.err == nil && n > 0 {
		return d.fail(corruptf("%d bytes behind the last record", n))
	}
	return d.err
}

func (d *Decoder) fail(err error) error {
	d.payload, d.pos, d.left, d.err = nil, 0, 0, err
	return err
}

//go:noinline
func (d *Decoder) corrupt(field string, value int64, start int) error {
	return d.fail(corruptf("record at byte %d of %d: %s %d, after offset delta %d of %d",
		start, len(d.payload), field, value, d.prevDelta, d.lastDelta))
}
