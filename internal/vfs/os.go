package vfs

import (
	"io"
	"io/fs"
	"os"
	"time"
)

// OS is the host's file system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &osFile{f: f}, nil
}

func (osFS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) Rename(oldname, newname string) error       { return os.Rename(oldname, newname) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFS) SyncDir(name string) error                  { return syncDir(name) }
func (osFS) Boot(dir string) string                     { return boot(dir) }

func (osFS) SetModTime(name string, t time.Time) error {
	return uninterrupted(func() error { return os.Chtimes(name, time.Time{}, t) })
}

func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	held, err := tryLock(f)
	switch {
	case err != nil:
		err = &fs.PathError{Op: "lock", Path: name, Err: err}
	case !held:
		err = &LockedError{Path: name, PID: readPID(f)}
	default:
		writePID(f)
		return &heldLock{f, unlock}, nil
	}
	_ = f.Close()
	return nil, err
}
