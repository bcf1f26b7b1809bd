package vfs

import (
	"io"
	"io/fs"
	"syscall"
)

// memFile is one open file. The Mem's mutex guards it.
type memFile struct {
	m        *Mem
	n        *memNode
	name     string
	writable bool
	locks    bool // is what Lock returned
	closed   bool
}

// do runs call under the Mem's lock, and names what its error is about.
func (f *memFile) do(op string, write bool, call func() error) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	var err error
	switch {
	case f.m.mu.dead:
		err = ErrCrashed
	case f.closed:
		err = fs.ErrClosed
	case write && !f.writable:
		err = syscall.EBADF
	default:
		err = call()
	}
	if err == nil || err == io.EOF {
		return err
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *memFile) Name() string { return f.name }

func (f *memFile) Size() (size int64, err error) {
	err = f.do("stat", false, func() error {
		size = f.n.size
		return nil
	})
	return size, err
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", false, func() error {
		if off < 0 {
			return syscall.EINVAL
		}
		if off < f.n.size {
			n = copy(p, f.n.data[off:f.n.size])
		}
		if n < len(p) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	if f.m.OnStore != nil && f.writable && off >= 0 {
		f.m.OnStore(Store{Name: f.name, At: off, Bytes: p, f: f})
	}
	return f.writeAt(p, off)
}

func (f *memFile) writeAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", true, func() error {
		if off < 0 {
			return syscall.EINVAL
		}
		if len(p) == 0 {
			return nil // anywhere, even past the end
		}
		if err := f.growLocked(off, off+int64(len(p))); err != nil {
			return err
		}
		n = copy(f.n.data[off:], p)
		f.n.tell(off, p)
		return nil
	})
	return n, err
}

func (f *memFile) Allocate(from, end int64) error {
	return f.do("allocate", true, func() error {
		if from < 0 || end < from {
			return syscall.EINVAL
		}
		return f.growLocked(from, end)
	})
}

// growLocked gives room to [from, end) and makes the file reach end. Nothing
// has changed when it fails.
func (f *memFile) growLocked(from, end int64) error {
	if from == end {
		return nil
	}
	if err := f.n.reserve(end); err != nil {
		return err
	}
	if err := f.m.takeLocked(f.n, from, end); err != nil {
		return err
	}
	f.m.resizeLocked(f.n, max(end, f.n.size))
	return nil
}

func (f *memFile) Truncate(size int64) error {
	return f.do("truncate", true, func() error {
		if size < 0 {
			return syscall.EINVAL
		}
		if err := f.n.reserve(size); err != nil {
			return err
		}
		f.m.resizeLocked(f.n, size)
		return nil
	})
}

func (f *memFile) Sync() error {
	return f.do("sync", false, func() error {
		f.n.sync()
		return nil
	})
}

func (f *memFile) Close() error {
	return f.do("close", false, func() error {
		f.closed = true
		if f.locks {
			f.n.locked = false
		}
		f.n.opens--
		f.m.releaseLocked(f.n)
		return nil
	})
}

func (f *memFile) Map(length int64, writable bool) (m Mapping, err error) {
	err = f.do("map", writable, func() error {
		if length <= 0 {
			return syscall.EINVAL
		}
		if err := f.n.reserve(length); err != nil {
			return err
		}
		f.n.maps++
		if writable {
			f.n.listen()
		}
		m = &memMapping{f: f, n: f.n, mem: f.n.data[:length:length]}
		return nil
	})
	return m, err
}
