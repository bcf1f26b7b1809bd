//go:build unix

package vfs

import (
	"io/fs"
	"os"
)

// onDescriptor makes a system call on f's descriptor, again when a signal
// interrupts it, and keeps the descriptor open meanwhile.
func onDescriptor(f *os.File, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = uninterrupted(func() error { return call(int(fd)) })
	})
	if err != nil {
		return fs.ErrClosed // the only way Control fails
	}
	return failed
}
