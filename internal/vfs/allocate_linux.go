package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve makes room for [from, end) and the file at least end long. After an
// error the length may be anything from size to end.
func reserve(f *os.File, size, from, end int64) error {
	const growFile = 0
	err := onDescriptor(f, func(fd int) error { return unix.Fallocate(fd, growFile, from, end-from) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return writeZeros(f, size, end)
	}
	return err
}
