package vfs

import "io"

// zeros is what writeZeros writes; nobody changes it.
var zeros [64 << 10]byte

// writeZeros makes room by writing it, from the current end of the file on:
// bytes before that may be someone's. A hole in front of the end stays one.
func writeZeros(f io.WriterAt, size, end int64) error {
	for size < end {
		n, err := f.WriteAt(zeros[:min(end-size, int64(len(zeros)))], size)
		if err != nil {
			return err
		}
		size += int64(n)
	}
	return nil
}
