package vfs

import (
	"os"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/unix"
)

// mappings is nothing on Linux: it finds pages dirtied through a mapping itself.
type mappings struct{}

func (*mappings) add(mmap.MMap)    {}
func (*mappings) remove(mmap.MMap) {}

// sync leaves out the times of the file, which fsync would journal each time.
// The length is part of what fdatasync writes.
func (*mappings) sync(f *os.File) error { return onDescriptor(f, unix.Fdatasync) }

// WriteBack does not wait for what it begins: that would take an error of the
// device away from the next sync, which has to tell it.
func (f *osFile) WriteBack(from, end int64) {
	_ = onDescriptor(f.f, func(fd int) error {
		return unix.SyncFileRange(fd, from, end-from, unix.SYNC_FILE_RANGE_WRITE)
	})
}
