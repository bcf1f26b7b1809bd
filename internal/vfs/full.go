package vfs

import (
	"errors"
	"syscall"
)

// IsFull says whether an error is that there is no room: on the disk, or in
// what the user may occupy of it. Nothing is broken then, and the call works
// again once there is room.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
