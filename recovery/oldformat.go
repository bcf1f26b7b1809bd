package recovery

import (
	"encoding/binary"
	"hash/crc32"
)

// wholeOldMessage says whether b begins with a whole message of format 0 or 1,
// of which record knows the magic only. A batch torn between its length and its
// magic looks like one, and must not keep a log from opening; so the checksum,
// CRC-32 of everything from the magic on, decides:
//
//	 0    8  offset
//	 8    4  length   bytes after this field
//	12    4  CRC
//	16    1  magic
func wholeOldMessage(b []byte) bool {
	const overhead, crcAt, magicAt = 12, 12, 16
	if len(b) <= magicAt {
		return false
	}
	length := int64(int32(binary.BigEndian.Uint32(b[8:])))
	if length <= magicAt-overhead || length > int64(len(b))-overhead {
		return false
	}
	return crc32.ChecksumIEEE(b[magicAt:overhead+length]) == binary.BigEndian.Uint32(b[crcAt:])
}
