package vfs

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/windows"
)

// hostNoSpace gives a full disk, or quota, the name it has elsewhere.
func hostNoSpace(err error) error {
	if errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED) {
		return fmt.Errorf("%w: %w", syscall.EDQUOT, err)
	}
	if errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) {
		return fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	}
	return err
}
