package vfs

import (
	"errors"
	"syscall"
)

// uninterrupted makes a system call, again when a signal interrupts it. Package
// os does so by itself for most calls; those made without it, mmap and
// utimensat among them, come through here or through onDescriptor. File systems
// in user space and over a network answer EINTR where local ones never do.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
