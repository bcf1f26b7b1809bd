//go:build unix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes flock(2), which belongs to the open file and not to the
// process: two opens conflict wherever they are, and the kernel releases the
// lock with the descriptor, however the process ends.
func tryLock(f *os.File) (held bool, err error) {
	err = onDescriptor(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error {
	return onDescriptor(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_UN) })
}
