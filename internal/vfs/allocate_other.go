//go:build !linux

package vfs

import "os"

// reserve makes room for [from, end) and the file at least end long. After an
// error the length may be anything from size to end.
func reserve(f *os.File, size, _, end int64) error { return hostNoSpace(writeZeros(f, size, end)) }
