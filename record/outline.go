package record

import (
	"encoding/binary"
	"math"
)

// Outline is what it takes to pass over a batch: three words, where a BatchHeader
// has twelve fields.
type Outline struct {
	Size        int   // bytes of the whole batch
	First, Last int64 // offsets
}

// Next is the offset after the batch.
func (o Outline) Next() int64 { return o.Last + 1 }

// ParseOutline is ParseHeader for who passes over batches, many of them. ok is
// false for what ParseHeader refuses: that tells why.
func ParseOutline(b []byte) (o Outline, ok bool) {
	if len(b) < HeaderSize {
		return o, false
	}
	head := (*[HeaderSize]byte)(b)
	length := int32(binary.BigEndian.Uint32(head[posLength:]))
	delta := int32(binary.BigEndian.Uint32(head[posLastOffsetDelta:]))
	count := int32(binary.BigEndian.Uint32(head[posCount:]))
	o.First = int64(binary.BigEndian.Uint64(head[posBaseOffset:]))
	o.Last = o.First + int64(delta)
	o.Size = int(length) + logOverhead
	ok = head[posMagic] == magicV2 && length >= HeaderSize-logOverhead && length <= MaxBatchSize-logOverhead &&
		o.First >= 0 && delta >= 0 && o.First <= math.MaxInt64-1-int64(delta) && count >= 0 && int64(count) <= int64(delta)+1
	return o, ok
}

// ParseWhole is Parse for who passes over batches: ParseOutline of one that is
// there whole, with the right CRC.
func ParseWhole(b []byte) (o Outline, ok bool) {
	if o, ok = ParseOutline(b); !ok || len(b) < o.Size {
		return o, false
	}
	return o, checksum(b[:o.Size]) == binary.BigEndian.Uint32(b[posCRC:])
}
