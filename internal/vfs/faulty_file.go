package vfs

import "sync/atomic"

type faultyFile struct {
	f      *Faulty
	below  File
	closed atomic.Bool
}

func (ff *faultyFile) enter(op Op, off, length int64) (short int, err error) {
	return ff.f.enter(Call{Op: op, Name: ff.below.Name(), Off: off, Len: length})
}

func (ff *faultyFile) Name() string { return ff.below.Name() }

func (ff *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	short, err := ff.enter(OpReadAt, off, int64(len(p)))
	if err != nil {
		n, _ := ff.below.ReadAt(p[:min(short, len(p))], off)
		return n, err
	}
	return ff.below.ReadAt(p, off)
}

func (ff *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	short, err := ff.enter(OpWriteAt, off, int64(len(p)))
	if err != nil {
		n, _ := ff.below.WriteAt(p[:min(short, len(p))], off)
		return n, err
	}
	return ff.below.WriteAt(p, off)
}

func (ff *faultyFile) Close() error {
	_, err := ff.enter(OpClose, 0, 0)
	if !ff.closed.Swap(true) {
		ff.f.used(ff.Name(), use{opens: -1})
	}
	if closeErr := ff.below.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (ff *faultyFile) Size() (int64, error) {
	if _, err := ff.enter(OpSize, 0, 0); err != nil {
		return 0, err
	}
	return ff.below.Size()
}

func (ff *faultyFile) Truncate(size int64) error {
	if _, err := ff.enter(OpTruncate, 0, size); err != nil {
		return err
	}
	if err := ff.f.mayCut(ff.below, size); err != nil {
		return err
	}
	return ff.below.Truncate(size)
}

func (ff *faultyFile) Allocate(from, end int64) error {
	if _, err := ff.enter(OpAllocate, from, end-from); err != nil {
		return err
	}
	return ff.below.Allocate(from, end)
}

func (ff *faultyFile) Sync() error {
	if _, err := ff.enter(OpSync, 0, 0); err != nil {
		return err
	}
	return ff.below.Sync()
}

func (ff *faultyFile) Map(length int64, writable bool) (Mapping, error) {
	if _, err := ff.enter(OpMap, 0, length); err != nil {
		return nil, err
	}
	m, err := ff.below.Map(length, writable)
	if err != nil {
		return nil, err
	}
	ff.f.used(ff.Name(), use{maps: 1})
	fm := &faultyMapping{f: ff.f, name: ff.Name(), below: m}
	if s, ok := m.(Storer); ok {
		return faultyStorer{fm, s}, nil
	}
	return fm, nil
}

// faultyStorer hands stores on.
type faultyStorer struct {
	*faultyMapping
	below Storer
}

func (m faultyStorer) Store(at int64, b []byte) { m.below.Store(at, b) }

type faultyMapping struct {
	f     *Faulty
	name  string
	below Mapping
}

func (m *faultyMapping) Bytes() []byte { return m.below.Bytes() }

func (m *faultyMapping) Unmap() error {
	_, err := m.f.enter(Call{Op: OpUnmap, Name: m.name, Len: int64(len(m.below.Bytes()))})
	m.f.used(m.name, use{maps: -1})
	if unmapErr := m.below.Unmap(); err == nil {
		err = unmapErr
	}
	return err
}
