package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// coldShare is how much of the files may still be in memory for them to count as
// cold.
const coldShare = 0.02

// restartCold stops a broker, has the kernel forget its files, and starts it:
// what a process has mapped the kernel does not forget.
func (n *node) restartCold(ctx context.Context) error {
	if err := n.Stop(); err != nil {
		return err
	}
	var resident, all int64
	err := filepath.WalkDir(n.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".log" {
			return err
		}
		in, of, err := forget(name)
		resident, all = resident+in, all+of
		return err
	})
	if err != nil {
		return err
	}
	if share := float64(resident) / float64(max(all, 1)); share > coldShare {
		if err := n.start(ctx); err != nil {
			return err
		}
		return fmt.Errorf("%.0f %% of the files stay in memory, so that nothing would be cold; -dir may name another file system", 100*share)
	}
	return n.start(ctx)
}

// forget writes a file out and drops it from the page cache. It returns how many
// of its pages are there yet.
func forget(name string) (resident, pages int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, 0, err
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return 0, 0, err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = unix.Munmap(m) }()
	in := make([]byte, (len(m)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&m[0])), uintptr(len(m)), uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		return 0, 0, errno
	}
	for _, page := range in {
		resident += int64(page & 1)
	}
	return resident, int64(len(in)), nil
}
