package record

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/s2"
)

// Java clients write Snappy as snappy-java frames it (known as xerial):
//
//	82 53 4e 41 50 50 59 00   magic, "\x82SNAPPY\0"
//	00 00 00 01               version
//	00 00 00 01               oldest version that can read it
//	then for each 32 KiB of input:
//	int32                     compressed length
//	bytes                     a Snappy block
//
// Other clients write one Snappy block and nothing around it. A reader tells
// them apart by the magic: no Snappy block of use starts with it.

const (
	xerialHeaderSize = 16
	xerialBlock      = 32 << 10

	// snappyMaxRatio bounds what a Snappy block can expand to: its densest
	// element makes 64 bytes of 3.
	snappyMaxRatio = 22
)

var xerialHeader = [xerialHeaderSize]byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

// xerialMagic is the part that is compared; Java's reader skips the versions
// too.
var xerialMagic = xerialHeader[:8]

// appendXerial appends src to dst, compressed and framed.
func appendXerial(dst, src []byte) []byte {
	dst = append(dst, xerialHeader[:]...)
	for len(src) > 0 {
		block := src[:min(len(src), xerialBlock)]
		src = src[len(block):]
		n := len(dst)
		dst = slices.Grow(dst, 4+s2.MaxEncodedLen(len(block)))[:n+4]
		out := s2.EncodeSnappy(dst[n+4:cap(dst)], block)
		binary.BigEndian.PutUint32(dst[n:], uint32(len(out)))
		dst = dst[:n+4+len(out)]
	}
	return dst
}

// decompressSnappy appends src, in either framing, to dst.
func decompressSnappy(dst, src []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) {
		return appendSnappyBlock(dst, src, limit)
	}
	for len(src) > 0 {
		// Streams may have been concatenated: a header can come again.
		if bytes.HasPrefix(src, xerialMagic) {
			if len(src) < xerialHeaderSize {
				return nil, corruptf("snappy: header of %d bytes, want %d", len(src), xerialHeaderSize)
			}
			src = src[xerialHeaderSize:]
			continue
		}
		if len(src) < 4 {
			return nil, corruptf("snappy: %d bytes behind the last block", len(src))
		}
		size := binary.BigEndian.Uint32(src)
		src = src[4:]
		if uint64(size) > uint64(len(src)) {
			return nil, corruptf("snappy: block of %d bytes in %d", size, len(src))
		}
		var err error
		if dst, err = appendSnappyBlock(dst, src[:size], limit); err != nil {
			return nil, err
		}
		src = src[size:]
	}
	return dst, nil
}

func appendSnappyBlock(dst, src []byte, limit int) ([]byte, error) {
	size, err := s2.DecodedLen(src)
	if err != nil {
		return nil, corruptf("snappy: %v", err)
	}
	if size/snappyMaxRatio > len(src) {
		return nil, corruptf("snappy: block of %d bytes claims %d", len(src), size)
	}
	if size > limit-len(dst) {
		return nil, tooLargef("snappy: more than %d bytes", limit)
	}
	n := len(dst)
	dst = slices.Grow(dst, size)
	if _, err := s2.Decode(dst[n:n+size], src); err != nil {
		return nil, corruptf("snappy: %v", err)
	}
	return dst[:n+size], nil
}
