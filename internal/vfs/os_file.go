package vfs

import (
	"io/fs"
	"os"
	"syscall"
)

// osFile is a file of the host. What differs between hosts is in reserve,
// mapSource and mappings.
type osFile struct {
	f    *os.File
	maps mappings
}

func (f *osFile) ReadAt(p []byte, off int64) (int, error)  { return f.f.ReadAt(p, off) }
func (f *osFile) WriteAt(p []byte, off int64) (int, error) { return f.f.WriteAt(p, off) }
func (f *osFile) Close() error                             { return f.f.Close() }
func (f *osFile) Name() string                             { return f.f.Name() }
func (f *osFile) Truncate(size int64) error                { return f.f.Truncate(size) }

func (f *osFile) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *osFile) Sync() error { return f.wrap("sync", f.maps.sync(f.f)) }

func (f *osFile) Allocate(from, end int64) error { return f.allocateBy(reserve, from, end) }

func (f *osFile) allocateBy(reserve func(f *os.File, size, from, end int64) error, from, end int64) error {
	if from < 0 || end < from {
		return f.wrap("allocate", syscall.EINVAL)
	}
	size, err := f.Size()
	if err != nil || from == end {
		return err
	}
	if err := reserve(f.f, size, from, end); err != nil {
		// ext4 keeps what it managed to reserve, length included.
		if now, statErr := f.Size(); statErr == nil && now > size {
			_ = f.f.Truncate(size)
		}
		return f.wrap("allocate", err)
	}
	return nil
}

func (f *osFile) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: f.f.Name(), Err: err}
}
