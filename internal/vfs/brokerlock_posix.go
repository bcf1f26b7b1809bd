//go:build unix && !linux

package vfs

import "golang.org/x/sys/unix"

const (
	setRecordLock = unix.F_SETLK
	getRecordLock = unix.F_GETLK
)
