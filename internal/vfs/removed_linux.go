package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// nameless asks for the number of names alone. Who asks for the times too has the
// next store give the file one that differs (multigrain timestamps, Linux 6.13), so
// that each sync would write the inode.
func nameless(f *os.File) bool {
	var st unix.Statx_t
	err := onDescriptor(f, func(fd int) error {
		return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_NLINK, &st)
	})
	if err != nil { // not of Linux before 4.11
		return namelessByStat(f)
	}
	return st.Mask&unix.STATX_NLINK != 0 && st.Nlink == 0
}
