package vfs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// boot is the kernel's id of this boot with the directory's device and inode.
// Who mounts a snapshot elsewhere or copies the directory has other ones.
func boot(dir string) string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil || id == "" {
		return ""
	}
	var st unix.Stat_t
	if err := uninterrupted(func() error { return unix.Stat(dir, &st) }); err != nil {
		return ""
	}
	return fmt.Sprintf("%s/%d:%d", id, st.Dev, st.Ino)
}
