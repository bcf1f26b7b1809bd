package vfs

import "golang.org/x/sys/unix"

// The lock belongs to the open file, and so is not lost when something else in
// this process opens and closes the file, as those of POSIX are.
const (
	setRecordLock = unix.F_OFD_SETLK
	getRecordLock = unix.F_OFD_GETLK
)
