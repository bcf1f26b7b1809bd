package limit

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/seglog/seglog/bench/workload"
)

// A frame is a header and records:
//
//	0   8  number of its first record
//	8   4  bytes after this field
//	12  4  CRC-32C of all that follows
//	16  45 nothing, so that the header is as long as a batch's, 61 bytes
//	61     records: 7 bytes of nothing, 2 of length, the value
//
// which is as many bytes as a batch of Kafka's has with records of some hundred
// bytes, without its varints.
const (
	headerSize = 61
	recordSize = 9
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errFrame = errors.New("a frame is not what was written")

// ready is a frame of count records of size bytes.
func ready(count, size int) []byte {
	frame := make([]byte, headerSize, headerSize+count*(recordSize+size))
	for _, value := range workload.Values(count, size) {
		frame = append(frame, make([]byte, recordSize)...)
		binary.LittleEndian.PutUint16(frame[len(frame)-2:], uint16(size))
		frame = append(frame, value...)
	}
	binary.LittleEndian.PutUint32(frame[8:], uint32(len(frame)-12))
	sum(frame)
	return frame
}

// sum computes the checksum and puts it into the frame.
func sum(frame []byte) {
	binary.LittleEndian.PutUint32(frame[12:], crc32.Checksum(frame[16:], castagnoli))
}

// whole is the frame at the start of b, verified.
func whole(b []byte) ([]byte, error) {
	if len(b) < headerSize {
		return nil, errFrame
	}
	n := 12 + int(binary.LittleEndian.Uint32(b[8:]))
	if n > len(b) || crc32.Checksum(b[16:n], castagnoli) != binary.LittleEndian.Uint32(b[12:]) {
		return nil, errFrame
	}
	return b[:n], nil
}

// walk verifies the frames in b and calls for each record; bytes are those of values.
func walk(b []byte) (records, bytes int64, err error) {
	for len(b) > 0 {
		frame, err := whole(b)
		if err != nil {
			return 0, 0, err
		}
		b = b[len(frame):]
		for rest := frame[headerSize:]; len(rest) > 0; records++ {
			n := int(binary.LittleEndian.Uint16(rest[recordSize-2:]))
			bytes += int64(n)
			rest = rest[recordSize+n:]
		}
	}
	return records, bytes, nil
}
