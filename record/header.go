package record

import (
	"encoding/binary"
	"math"
)

const (
	// HeaderSize is the number of bytes before a batch's records, and so
	// the size of the smallest batch, which has none.
	HeaderSize = 61

	// MaxBatchSize is the largest whole batch in bytes. Kafka adds the 12
	// bytes of the log overhead to the length field in an int32.
	MaxBatchSize = math.MaxInt32
)

// Where the fields are, in bytes from the start of the batch.
const (
	posBaseOffset      = 0
	posLength          = 8
	posLeaderEpoch     = 12
	posMagic           = 16
	posCRC             = 17
	posAttributes      = 21 // the CRC covers everything from here on
	posLastOffsetDelta = 23
	posBaseTimestamp   = 27
	posMaxTimestamp    = 35
	posProducerID      = 43
	posProducerEpoch   = 51
	posBaseSequence    = 53
	posCount           = 57
)

const (
	// logOverhead is what the length field does not count: the base offset
	// and itself.
	logOverhead = 12

	// minLegacyLength is the smallest length of any message format, that of
	// magic 0. Below it there is no magic to look at. A stretch of zeros,
	// as preallocation leaves behind, fails here.
	minLegacyLength = 14

	magicV2 = 2
)

// Bits of the attributes.
const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40 // KIP-534
)

// BatchHeader is the fixed part of a batch, field by field as in the package
// documentation. It owns its memory.
type BatchHeader struct {
	BaseOffset      int64 // offset of the first record as produced, even if compaction took that record
	Size            int   // bytes of the whole batch: the length field plus the 12 bytes before its end
	LeaderEpoch     int32 // -1 if unknown
	CRC             uint32
	Attributes      int16 // see the methods; bits 7 to 15 mean nothing and are kept
	LastOffsetDelta int32 // last offset minus base offset
	BaseTimestamp   int64 // milliseconds; the delete horizon if there is one
	MaxTimestamp    int64 // milliseconds; -1 if no record has a timestamp
	ProducerID      int64 // -1 if none
	ProducerEpoch   int16 // -1 if none
	BaseSequence    int32 // -1 if none
	Count           int32 // records present; fewer than offsets after compaction
}

// ParseHeader reads the header of the batch at the start of b, which may be
// longer or shorter than the batch. It looks at the structure only: that the
// sizes and offsets can be, and the magic. It neither touches the records nor
// verifies the CRC, so what it says of a damaged batch is damaged too.
//
// The error is ErrShort if b is too short to tell, else ErrUnsupportedMagic
// or ErrCorrupt; the header is empty then, unless only its offsets cannot be.
func ParseHeader(b []byte) (BatchHeader, error) {
	var h BatchHeader
	err := h.parse(b)
	return h, err
}

// parse is ParseHeader in place: the struct is large. After an error it is as it
// was, or, where only the offsets cannot be, as the batch says.
func (h *BatchHeader) parse(b []byte) error {
	if len(b) <= posMagic {
		return ErrShort
	}
	length := int32(binary.BigEndian.Uint32(b[posLength:]))
	if length < minLegacyLength || length > MaxBatchSize-logOverhead {
		return corruptf("batch length %d, want %d to %d", length, minLegacyLength, MaxBatchSize-logOverhead)
	}
	if magic := int8(b[posMagic]); magic != magicV2 {
		return magicError(magic)
	}
	if length < HeaderSize-logOverhead {
		return corruptf("batch length %d, want at least %d", length, HeaderSize-logOverhead)
	}
	if len(b) < HeaderSize {
		return ErrShort
	}
	*h = BatchHeader{
		BaseOffset:      int64(binary.BigEndian.Uint64(b[posBaseOffset:])),
		Size:            int(length) + logOverhead,
		LeaderEpoch:     int32(binary.BigEndian.Uint32(b[posLeaderEpoch:])),
		CRC:             binary.BigEndian.Uint32(b[posCRC:]),
		Attributes:      int16(binary.BigEndian.Uint16(b[posAttributes:])),
		LastOffsetDelta: int32(binary.BigEndian.Uint32(b[posLastOffsetDelta:])),
		BaseTimestamp:   int64(binary.BigEndian.Uint64(b[posBaseTimestamp:])),
		MaxTimestamp:    int64(binary.BigEndian.Uint64(b[posMaxTimestamp:])),
		ProducerID:      int64(binary.BigEndian.Uint64(b[posProducerID:])),
		ProducerEpoch:   int16(binary.BigEndian.Uint16(b[posProducerEpoch:])),
		BaseSequence:    int32(binary.BigEndian.Uint32(b[posBaseSequence:])),
		Count:           int32(binary.BigEndian.Uint32(b[posCount:])),
	}
	if h.BaseOffset < 0 || h.LastOffsetDelta < 0 || h.BaseOffset > math.MaxInt64-1-int64(h.LastOffsetDelta) ||
		h.Count < 0 || int64(h.Count) > int64(h.LastOffsetDelta)+1 {
		return offsetsError(h)
	}
	return nil
}

//go:noinline
func magicError(magic int8) error {
	if magic == 0 || magic == 1 {
		return ErrUnsupportedMagic
	}
	return corruptf("magic %d, want %d", magic, magicV2)
}

//go:noinline
func offsetsError(h *BatchHeader) error {
	if h.BaseOffset < 0 || h.LastOffsetDelta < 0 || h.Count < 0 {
		return corruptf("base offset %d, last offset delta %d, record count %d: none may be negative",
			h.BaseOffset, h.LastOffsetDelta, h.Count)
	}
	if int64(h.Count) > int64(h.LastOffsetDelta)+1 {
		return corruptf("record count %d in %d offsets", h.Count, int64(h.LastOffsetDelta)+1)
	}
	return corruptf("base offset %d and last offset delta %d pass the largest offset", h.BaseOffset, h.LastOffsetDelta)
}

// LastOffset is the last offset that the batch stands for, whether or not
// its record is still there.
func (h BatchHeader) LastOffset() int64 { return h.BaseOffset + int64(h.LastOffsetDelta) }

// NextOffset is the offset after the batch: [BaseOffset, NextOffset) is its
// range.
func (h BatchHeader) NextOffset() int64 { return h.LastOffset() + 1 }

// Codec may be one that does not exist (5 to 7); reading the records then
// fails.
func (h BatchHeader) Codec() Codec { return Codec(h.Attributes & attrCodec) }

// TimestampType says what MaxTimestamp is and whose the records' times are.
func (h BatchHeader) TimestampType() TimestampType {
	if h.Attributes&attrLogAppendTime != 0 {
		return LogAppendTime
	}
	return CreateTime
}

// Transactional says whether the batch, data or marker, belongs to a
// transaction of its producer.
func (h BatchHeader) Transactional() bool { return h.Attributes&attrTransactional != 0 }

// Control says whether the records are control records, which count as
// offsets and are never data. See [ParseControl].
func (h BatchHeader) Control() bool { return h.Attributes&attrControl != 0 }

// DeleteHorizon is the time, in milliseconds since 1970, from which
// compaction may drop the batch's tombstones and markers (KIP-534). It is
// false if none has been set.
func (h BatchHeader) DeleteHorizon() (ms int64, ok bool) {
	if h.Attributes&attrDeleteHorizon == 0 {
		return 0, false
	}
	return h.BaseTimestamp, true
}

// LastSequence is the sequence number of the last offset. After 2^31-1
// comes 0. It is -1 if the batch has no sequence.
func (h BatchHeader) LastSequence() int32 {
	if h.BaseSequence < 0 {
		return -1
	}
	return int32((int64(h.BaseSequence) + int64(h.LastOffsetDelta)) & math.MaxInt32)
}
