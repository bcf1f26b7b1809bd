package record

import "encoding/binary"

// encoding is a record being encoded: first measured, then put into exactly
// that many bytes. Compaction can give it offset deltas with holes between
// them and times before the base.
type encoding struct {
	timeDelta   int64
	offsetDelta int32
	bodySize    int32 // set by measure
}

// measure returns the number of bytes of r, its length field included, or
// ErrTooLarge if that is more than limit, which is at most MaxBatchSize.
func (e *encoding) measure(r *Record, limit int) (size int, err error) {
	if len(r.Headers) > MaxHeaders {
		return 0, tooLargef("header count %d, limit %d", len(r.Headers), MaxHeaders)
	}
	limit = max(limit, 0)
	body := 1 + varlongLen(e.timeDelta) + varintLen(e.offsetDelta) +
		sizeOf(r.Key) + sizeOf(r.Value) + varintLen(int32(len(r.Headers)))
	// Headers may share their bytes, so that a sum can pass an int where the
	// memory behind it does not: each addition is held to the limit.
	for i := 0; i < len(r.Headers) && uint(body) <= uint(limit); i++ {
		h := &r.Headers[i]
		body += uvarintLen(uint64(len(h.Key))<<1) + len(h.Key) + sizeOf(h.Value)
	}
	if uint(body) > uint(limit) {
		return 0, tooLargef("record of %d bytes or more, %d left in the batch", body, limit)
	}
	e.bodySize = int32(body)
	size = varintLen(e.bodySize) + body
	if size > limit {
		return 0, tooLargef("record of %d bytes, %d left in the batch", size, limit)
	}
	return size, nil
}

// put writes r to b, which is as long as measure said.
func (e *encoding) put(b []byte, r *Record) {
	i := putVarint(b, 0, e.bodySize)
	b[i] = 0 // attributes, unused
	i = putVarlong(b, i+1, e.timeDelta)
	i = putVarint(b, i, e.offsetDelta)
	i = putBytes(b, i, r.Key)
	i = putBytes(b, i, r.Value)
	i = putVarint(b, i, int32(len(r.Headers)))
	for k := range r.Headers {
		h := &r.Headers[k]
		i = putVarint(b, i, int32(len(h.Key)))
		i += copy(b[i:], h.Key)
		i = putBytes(b, i, h.Value)
	}
}

// putShort is measure and put in one for nearly all records: without headers, of
// some bytes, and with integers of two at most, which are put together in a register.
// What such a store writes too much the next one covers. size is 0, and nothing
// happens, for another record, or if b has not maxRecordFrame bytes beside the key and
// the value.
func putShort(b []byte, timeDelta int64, offsetDelta int32, r *Record) (size int) {
	key, value := r.Key, r.Value
	times, offsets := zigzag64(timeDelta), uint64(zigzag32(offsetDelta))
	bytes := uint(len(key)) + uint(len(value))
	if len(r.Headers) > 0 || times|offsets >= 1<<14 || bytes < 2 || bytes > 1<<13-maxRecordFrame || uint(len(b)) < bytes+maxRecordFrame {
		return 0
	}
	w, n := pack(0, 8, times) // behind the attributes
	w, n = pack(w, n, offsets)
	w, n = pack(w, n, lengthOf(key))
	v, m := pack(0, 0, lengthOf(value))

	body, i := pack(0, 0, uint64((n+m)/8+bytes+1)<<1)
	binary.LittleEndian.PutUint16(b, uint16(body))
	i /= 8
	binary.LittleEndian.PutUint64(b[i:], w)
	i += n / 8
	if len(key) > 0 {
		i += uint(copy(b[i:], key))
	}
	binary.LittleEndian.PutUint16(b[i:], uint16(v))
	i += m / 8
	i += uint(copy(b[i:], value))
	b[i] = 0 // headers
	return int(i + 1)
}

// pack puts the varint of u, which is below 2^14, behind the n bits of w.
func pack(w uint64, n uint, u uint64) (uint64, uint) {
	if u < 1<<7 {
		return w | u<<(n&63), n + 8
	}
	return w | (u>>7<<8|u&0x7f|0x80)<<(n&63), n + 16
}

// lengthOf is the zigzag of a length, -1 for nil.
func lengthOf(b []byte) uint64 {
	if b == nil {
		return 1
	}
	return uint64(len(b)) << 1
}

// sizeOf is the size of a length field and the bytes behind it. A length of
// -1 is one byte, as 0 is.
func sizeOf(b []byte) int { return uvarintLen(uint64(len(b))<<1) + len(b) }

func putBytes(b []byte, i int, p []byte) (next int) {
	if p == nil {
		return putVarint(b, i, -1)
	}
	i = putVarint(b, i, int32(len(p)))
	return i + copy(b[i:], p)
}

// put writes the header of the batch raw, whose records are in place, and
// last of all the CRC over both.
func (h *BatchHeader) put(raw []byte) {
	binary.BigEndian.PutUint64(raw[posBaseOffset:], uint64(h.BaseOffset))
	binary.BigEndian.PutUint32(raw[posLength:], uint32(h.Size-logOverhead))
	h.putBehindFrame(raw)
}

// putBehindFrame is put but for the base offset and the length, which the CRC
// does not cover.
func (h *BatchHeader) putBehindFrame(raw []byte) (crc uint32) {
	_ = raw[HeaderSize-1]
	binary.BigEndian.PutUint32(raw[posLeaderEpoch:], uint32(h.LeaderEpoch))
	raw[posMagic] = magicV2
	binary.BigEndian.PutUint16(raw[posAttributes:], uint16(h.Attributes))
	binary.BigEndian.PutUint32(raw[posLastOffsetDelta:], uint32(h.LastOffsetDelta))
	binary.BigEndian.PutUint64(raw[posBaseTimestamp:], uint64(h.BaseTimestamp))
	binary.BigEndian.PutUint64(raw[posMaxTimestamp:], uint64(h.MaxTimestamp))
	binary.BigEndian.PutUint64(raw[posProducerID:], uint64(h.ProducerID))
	binary.BigEndian.PutUint16(raw[posProducerEpoch:], uint16(h.ProducerEpoch))
	binary.BigEndian.PutUint32(raw[posBaseSequence:], uint32(h.BaseSequence))
	binary.BigEndian.PutUint32(raw[posCount:], uint32(h.Count))
	crc = checksum(raw)
	binary.BigEndian.PutUint32(raw[posCRC:], crc)
	return crc
}
