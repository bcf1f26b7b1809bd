package record

import (
	"encoding/binary"
	"time"
)

// Draft is an uncompressed batch that was looked over and is not encoded yet. Who
// has a place for it encodes it there, so that no byte is copied twice. It does not
// hold the records, so that they can be on a stack: they are given to it twice, the
// same. It is for one goroutine.
type Draft struct {
	BatchHeader // without Size and CRC; LeaderEpoch and BaseOffset are the owner's to set

	bound int
	now   int64 // ms, of records without a time
}

// Most that a record takes beside its key, its value and its headers, and that a
// header takes beside its own.
const (
	maxRecordFrame = maxVarintLen + 1 + maxVarlongLen + maxVarintLen + 3*maxVarintLen
	maxHeaderFrame = 2 * maxVarintLen
)

// Reset looks the records over. A record without a time gets that of clock, and
// with LogAppendTime all do. ok is false if there is anything to say against the
// batch, or if it may take more than limit bytes: a Builder says what.
func (d *Draft) Reset(records []Record, t TimestampType, limit int, clock func() time.Time) (ok bool) {
	d.BatchHeader = BatchHeader{LeaderEpoch: -1, LastOffsetDelta: int32(len(records) - 1), Count: int32(len(records)),
		MaxTimestamp: noTimestamp, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1}
	d.now = noTimestamp
	bound := HeaderSize + len(records)*maxRecordFrame
	for i := range records {
		r := &records[i]
		ms, ok := toMillis(r.Time)
		if ms == noTimestamp && ok {
			if d.now == noTimestamp {
				d.now, ok = toMillis(clock())
			}
			ms = d.now
		}
		if !ok || len(r.Headers) > MaxHeaders {
			return false
		}
		if i == 0 {
			d.BaseTimestamp = ms
		}
		d.MaxTimestamp = max(d.MaxTimestamp, ms)
		if bound += len(r.Key) + len(r.Value); uint(bound) > uint(limit) {
			return false
		}
		for k := range r.Headers {
			if bound += maxHeaderFrame + len(r.Headers[k].Key) + len(r.Headers[k].Value); uint(bound) > uint(limit) {
				return false
			}
		}
	}
	if t == LogAppendTime {
		d.Attributes |= attrLogAppendTime
		if d.MaxTimestamp, ok = toMillis(clock()); !ok || d.MaxTimestamp == noTimestamp {
			return false
		}
	}
	d.bound = bound
	return len(records) > 0
}

// Bound is the most that the encoded batch can take, in bytes.
func (d *Draft) Bound() int { return d.bound }

// Encode writes the batch of the records that Reset looked over to dst, which is at
// least Bound long, but for its first FrameSize bytes, and sets Size and CRC. The
// error is ErrInvalid: a record has changed since Reset and does not fit any more.
func (d *Draft) Encode(dst []byte, records []Record) error {
	n := HeaderSize
	for i := range records {
		r := &records[i]
		timeDelta := int64(0)
		if i > 0 { // the first sets the base
			ms, _ := toMillis(r.Time)
			if ms == noTimestamp {
				ms = d.now
			}
			timeDelta = ms - d.BaseTimestamp
		}
		if size := putShort(dst[n:], timeDelta, int32(i), r); size > 0 {
			n += size
			continue
		}
		e := encoding{timeDelta: timeDelta, offsetDelta: int32(i)}
		size, err := e.measure(r, len(dst)-n)
		if err != nil {
			return invalidf("record %d of %d was changed while it was appended: %v", i, len(records), err)
		}
		e.put(dst[n:n+size], r)
		n += size
	}
	d.Size = n
	d.CRC = d.putBehindFrame(dst[:n])
	return nil
}

// FrameSize is how much of an encoded batch its base offset and its length take,
// by which it is found.
const FrameSize = logOverhead

// Frame writes the base offset and the length of an encoded Draft, the length last.
func (d *Draft) Frame(dst *[FrameSize]byte) {
	binary.BigEndian.PutUint64(dst[posBaseOffset:], uint64(d.BaseOffset))
	binary.BigEndian.PutUint32(dst[posLength:], uint32(d.Size-logOverhead))
}
