//go:build unix

package workload

import (
	"io/fs"
	"syscall"
)

// allocated is what a file takes on disk, which for one with holes is less than
// its length and for one with room reserved more.
func allocated(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(stat.Blocks) * 512
	}
	return info.Size()
}
