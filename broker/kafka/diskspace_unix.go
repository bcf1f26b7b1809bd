//go:build linux || darwin || freebsd

package kafka

import "golang.org/x/sys/unix"

// diskSpace is the size of the file system that a directory is on, and what of it
// is left, in bytes.
func diskSpace(dir string) (total, usable int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	block := int64(s.Bsize)
	return int64(s.Blocks) * block, int64(s.Bavail) * block, nil
}
