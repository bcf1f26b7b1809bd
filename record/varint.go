package record

import "math/bits"

// Integers inside a record are zigzag varints: the sign is folded into the
// lowest bit, then seven bits a byte follow, least significant first, each
// byte but the last with its top bit set. An int32 takes at most 5 bytes and
// an int64 at most 10.
//
// A reader takes a slice and an index and returns the index behind the
// integer, or -1 if there is none there. It takes -1, or any index outside
// the slice, as well and returns -1 for it, so that one check serves a row
// of reads.

const (
	maxVarintLen  = 5
	maxVarlongLen = 10
)

func unzigzag32(u uint32) int32 { return int32(u>>1) ^ -int32(u&1) }
func unzigzag64(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
func zigzag32(v int32) uint32   { return uint32(v)<<1 ^ uint32(v>>31) }
func zigzag64(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }

// Nearly all integers in a record are one byte or two.
func varint(b []byte, i int) (v int32, next int) {
	if uint(i) < uint(len(b)) {
		u := uint32(b[i])
		if u < 0x80 {
			return unzigzag32(u), i + 1
		}
		if j := i + 1; j < len(b) && b[j] < 0x80 {
			return unzigzag32(u&0x7f | uint32(b[j])<<7), i + 2
		}
	}
	return longVarint(b, i)
}

func longVarint(b []byte, i int) (v int32, next int) {
	u, next := uvarint(b, i, maxVarintLen)
	if next < 0 || u > 1<<32-1 {
		return 0, -1
	}
	return unzigzag32(uint32(u)), next
}

func varlong(b []byte, i int) (v int64, next int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return unzigzag64(uint64(b[i])), i + 1
	}
	u, next := uvarint(b, i, maxVarlongLen)
	return unzigzag64(u), next
}

func uvarint(b []byte, i, maxLen int) (u uint64, next int) {
	if uint(i) >= uint(len(b)) {
		return 0, -1
	}
	b = b[i:]
	if len(b) > maxLen {
		b = b[:maxLen]
	}
	for j, c := range b {
		if c < 0x80 {
			if j == maxVarlongLen-1 && c > 1 {
				return 0, -1 // beyond 64 bits
			}
			return u | uint64(c)<<(7*j), i + j + 1
		}
		u |= uint64(c&0x7f) << (7 * j)
	}
	return 0, -1
}

// varintLen is the number of bytes putVarint writes.
func varintLen(v int32) int { return uvarintLen(uint64(zigzag32(v))) }

// varlongLen is the number of bytes putVarlong writes.
func varlongLen(v int64) int { return uvarintLen(zigzag64(v)) }

// uvarintLen finds out by comparing, for nearly all: counting bits is slow on some
// processors.
func uvarintLen(u uint64) int {
	if u < 1<<7 {
		return 1
	}
	if u < 1<<14 {
		return 2
	}
	return (bits.Len64(u) + 6) / 7
}

// putVarint writes v to b, which has room, at i and returns the index behind
// it.
func putVarint(b []byte, i int, v int32) (next int) { return putUvarint(b, i, uint64(zigzag32(v))) }

// putVarlong is putVarint for an int64.
func putVarlong(b []byte, i int, v int64) (next int) { return putUvarint(b, i, zigzag64(v)) }

// putUvarint is apart from the loop to be inlined.
func putUvarint(b []byte, i int, u uint64) (next int) {
	if u < 0x80 {
		b[i] = byte(u)
		return i + 1
	}
	return putLongUvarint(b, i, u)
}

func putLongUvarint(b []byte, i int, u uint64) (next int) {
	for u >= 0x80 {
		b[i] = byte(u) | 0x80
		u >>= 7
		i++
	}
	b[i] = byte(u)
	return i + 1
}

// bytesAt returns the n bytes of b at i and the index behind them; nil for
// n = -1. As with the integers, the index is -1 if they are not there.
func bytesAt(b []byte, i int, n int32) (_ []byte, next int) {
	if i >= 0 && n >= 0 && int(n) <= len(b)-i {
		end := i + int(n)
		return b[i:end:end], end
	}
	if n == -1 {
		return nil, i
	}
	return nil, -1
}
