//go:build race

package vfs

import "encoding/binary"

// copyUnseen and equalUnseen read what a mapping may be storing to, as a
// kernel does: the race detector must not take that for a race. It looks into
// copy and comparisons, whoever calls them, hence the loops.
//
//go:norace
func copyUnseen(dst, src []byte) {
	n, i := min(len(dst), len(src)), 0
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(src[i:]))
	}
	for ; i < n; i++ {
		dst[i] = src[i]
	}
}

//go:norace
func equalUnseen(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for ; i+8 <= len(a); i += 8 {
		if binary.LittleEndian.Uint64(a[i:]) != binary.LittleEndian.Uint64(b[i:]) {
			return false
		}
	}
	for ; i < len(a); i++ {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
