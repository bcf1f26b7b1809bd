package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// unlockRecords has nothing to do: see unlock.
func unlockRecords(*os.File) error { return nil }

// lockRecords locks the range that Java does. The holder is not told.
func lockRecords(f *os.File) (pid int, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 0xffffffff, 0x7fffffff, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return 0, ErrLocked
	}
	return 0, err
}
