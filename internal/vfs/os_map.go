package vfs

import (
	"io"
	"syscall"

	"github.com/edsrzf/mmap-go"
)

type osMapping struct {
	file   *osFile
	mem    mmap.MMap
	source io.Closer // what the mapping was made from, where it must outlive the file
}

func (f *osFile) Map(length int64, writable bool) (Mapping, error) {
	if length <= 0 || int64(int(length)) != length {
		return nil, f.wrap("map", syscall.EINVAL)
	}
	prot := mmap.RDONLY
	if writable {
		prot = mmap.RDWR
	}
	source, closer, err := mapSource(f.f)
	if err != nil {
		return nil, f.wrap("map", err)
	}
	var mem mmap.MMap
	err = uninterrupted(func() (err error) {
		mem, err = mmap.MapRegion(source, int(length), prot, 0, 0)
		return err
	})
	if err != nil {
		_ = closer.Close()
		return nil, f.wrap("map", err)
	}
	if writable {
		f.maps.add(mem)
	}
	return &osMapping{file: f, mem: mem, source: closer}, nil
}

func (m *osMapping) Bytes() []byte { return m.mem }

func (m *osMapping) Unmap() error {
	m.file.maps.remove(m.mem)
	err := uninterrupted(func() error {
		mem := m.mem // which Unmap sets to nil
		return mem.Unmap()
	})
	if closeErr := m.source.Close(); err == nil {
		err = closeErr
	}
	return m.file.wrap("unmap", err)
}
