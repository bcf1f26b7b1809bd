//go:build unix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockRecords takes fcntl(2)'s lock of the whole file; pid is its holder's if
// it is held, 0 where that is not told.
func lockRecords(f *os.File) (pid int, err error) {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	err = onDescriptor(f, func(fd int) error { return unix.FcntlFlock(uintptr(fd), setRecordLock, &l) })
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		l = unix.Flock_t{Type: unix.F_WRLCK}
		if onDescriptor(f, func(fd int) error { return unix.FcntlFlock(uintptr(fd), getRecordLock, &l) }) == nil {
			pid = max(int(l.Pid), 0)
		}
		return pid, ErrLocked
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return 0, errNoRecordLocks
	}
	return 0, err
}

func unlockRecords(f *os.File) error {
	return onDescriptor(f, func(fd int) error {
		return unix.FcntlFlock(uintptr(fd), setRecordLock, &unix.Flock_t{Type: unix.F_UNLCK})
	})
}
