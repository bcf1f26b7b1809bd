package vfs

import (
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// OpenFile implements FS.
func (f *Faulty) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	op := OpOpen
	if flag&os.O_CREATE != 0 {
		op = OpCreate
	}
	if _, err := f.enter(Call{Op: op, Name: name}); err != nil {
		return nil, err
	}
	file, err := f.below.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	f.used(name, use{opens: 1})
	return &faultyFile{f: f, below: file}, nil
}

// Mkdir implements FS.
func (f *Faulty) Mkdir(name string, perm fs.FileMode) error {
	if _, err := f.enter(Call{Op: OpMkdir, Name: name}); err != nil {
		return err
	}
	return f.below.Mkdir(name, perm)
}

// Rename implements FS.
func (f *Faulty) Rename(oldname, newname string) error {
	if _, err := f.enter(Call{Op: OpRename, Name: oldname, NewName: newname}); err != nil {
		return err
	}
	if f.inUse(oldname) || f.inUse(newname) {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: ErrSharing}
	}
	return f.below.Rename(oldname, newname)
}

// Remove implements FS.
func (f *Faulty) Remove(name string) error {
	if _, err := f.enter(Call{Op: OpRemove, Name: name}); err != nil {
		return err
	}
	if f.inUse(name) {
		return &fs.PathError{Op: "remove", Path: name, Err: ErrSharing}
	}
	return f.below.Remove(name)
}

// ReadDir implements FS.
func (f *Faulty) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, err := f.enter(Call{Op: OpReadDir, Name: name}); err != nil {
		return nil, err
	}
	return f.below.ReadDir(name)
}

// Stat implements FS.
func (f *Faulty) Stat(name string) (fs.FileInfo, error) {
	if _, err := f.enter(Call{Op: OpStat, Name: name}); err != nil {
		return nil, err
	}
	return f.below.Stat(name)
}

// SetModTime implements FS.
func (f *Faulty) SetModTime(name string, t time.Time) error {
	if _, err := f.enter(Call{Op: OpSetModTime, Name: name}); err != nil {
		return err
	}
	return f.below.SetModTime(name, t)
}

// SyncDir implements FS.
func (f *Faulty) SyncDir(name string) error {
	if _, err := f.enter(Call{Op: OpSyncDir, Name: name}); err != nil {
		return err
	}
	return f.below.SyncDir(name)
}

// Lock implements FS.
func (f *Faulty) Lock(name string) (io.Closer, error) {
	if _, err := f.enter(Call{Op: OpLock, Name: name}); err != nil {
		return nil, err
	}
	lock, err := f.below.Lock(name)
	if err != nil {
		return nil, err
	}
	f.used(name, use{locks: 1})
	return &faultyLock{f: f, name: name, below: lock}, nil
}

type faultyLock struct {
	f      *Faulty
	name   string
	below  io.Closer
	closed atomic.Bool
}

func (l *faultyLock) Close() error {
	_, err := l.f.enter(Call{Op: OpClose, Name: l.name})
	if !l.closed.Swap(true) {
		l.f.used(l.name, use{locks: -1})
	}
	if closeErr := l.below.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Boot implements FS. It cannot fail.
func (f *Faulty) Boot(dir string) string { return f.below.Boot(dir) }
