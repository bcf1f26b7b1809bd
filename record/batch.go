package record

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is a view of an encoded batch. It borrows the bytes it was parsed
// from, which must not change while it is in use, and may be copied and read
// by many goroutines.
type Batch struct {
	BatchHeader
	raw []byte // exactly Size bytes
}

// Parse reads the first batch in b and verifies its CRC. Bytes behind it are
// left alone. What it accepts is whole and unaltered from the attributes on;
// the base offset and the leader epoch lie outside the CRC. That the records
// are well formed is for a [Decoder] or [Validate] to find.
//
// The error is ErrShort if b ends before the batch does, else
// ErrUnsupportedMagic or ErrCorrupt.
func Parse(b []byte) (x Batch, err error) {
	err = x.Parse(b)
	return x, err
}

// Parse is [Parse] in place: the struct is large. After an error it is zero.
func (b *Batch) Parse(raw []byte) error {
	if err := b.view(raw); err != nil {
		return err
	}
	if sum := checksum(b.raw); sum != b.CRC {
		err := corruptf("CRC %08x, want %08x, of a batch of %d bytes", sum, b.CRC, b.Size)
		*b = Batch{}
		return err
	}
	return nil
}

// view is Parse without the checksum.
func (b *Batch) view(raw []byte) error {
	err := b.parse(raw)
	if err == nil && len(raw) < b.Size {
		err = ErrShort
	}
	if err != nil {
		*b = Batch{}
		return err
	}
	b.raw = raw[:b.Size:b.Size]
	return nil
}

// Bytes is the whole encoded batch, borrowed like the Batch itself.
func (b Batch) Bytes() []byte { return b.raw }

// stored is the records as they are stored, compressed if the batch is.
func (b *Batch) stored() []byte {
	if len(b.raw) < HeaderSize {
		return nil // a zero Batch
	}
	return b.raw[HeaderSize:]
}

// checksum is the CRC of the whole batch raw.
func checksum(raw []byte) uint32 { return crc32.Checksum(raw[posAttributes:], castagnoli) }

// Intact says whether b begins with a batch that is whole and whose checksum
// holds, whatever else its header says: one that Parse refuses all the same was
// made so, and not damaged since.
func Intact(b []byte) bool {
	if len(b) < HeaderSize || int8(b[posMagic]) != magicV2 {
		return false
	}
	length := int64(int32(binary.BigEndian.Uint32(b[posLength:])))
	size := length + logOverhead
	return length >= HeaderSize-logOverhead && size <= int64(len(b)) &&
		checksum(b[:size]) == binary.BigEndian.Uint32(b[posCRC:])
}

// SetBaseOffset moves the encoded batch b to offset, in place. The field is
// outside the CRC so that a log can assign it without reading the records.
// b is a batch, or at least its first HeaderSize bytes.
func SetBaseOffset(b []byte, offset int64) {
	binary.BigEndian.PutUint64(b[posBaseOffset:], uint64(offset))
}

// SetLeaderEpoch is like [SetBaseOffset] for the leader epoch.
func SetLeaderEpoch(b []byte, epoch int32) {
	binary.BigEndian.PutUint32(b[posLeaderEpoch:], uint32(epoch))
}

// SetLogAppendTime gives all records of the encoded batch b the time ms of
// the log's clock, in milliseconds since 1970. It sets the timestamp type and
// the max timestamp in place, leaves the records' own deltas as they are, as
// Kafka does, and redoes the CRC. b is exactly one batch.
func SetLogAppendTime(b []byte, ms int64) {
	b[posAttributes+1] |= attrLogAppendTime
	setMaxTimestamp(b, ms)
}

// SetCreateTime makes the records' own times count again, of which maxMillis
// is the largest (-1 if none has one), in place, and redoes the CRC. A
// leader does this to a batch whose producer got either wrong. b is exactly
// one batch.
func SetCreateTime(b []byte, maxMillis int64) {
	b[posAttributes+1] &^= attrLogAppendTime
	setMaxTimestamp(b, maxMillis)
}

// SetProducer makes the encoded batch b one of p, in place, and redoes the CRC. A
// producer does this to a batch that it sends again with other numbers. b is
// exactly one batch; p's ID and Epoch are not negative.
func SetProducer(b []byte, p Producer) {
	binary.BigEndian.PutUint64(b[posProducerID:], uint64(p.ID))
	binary.BigEndian.PutUint16(b[posProducerEpoch:], uint16(p.Epoch))
	binary.BigEndian.PutUint32(b[posBaseSequence:], uint32(p.Sequence))
	binary.BigEndian.PutUint32(b[posCRC:], checksum(b))
}

func setMaxTimestamp(b []byte, ms int64) {
	binary.BigEndian.PutUint64(b[posMaxTimestamp:], uint64(ms))
	binary.BigEndian.PutUint32(b[posCRC:], checksum(b))
}
