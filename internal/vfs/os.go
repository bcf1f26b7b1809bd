package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

func (fsys osFS) MkdirAll(name string, perm fs.FileMode) error {
	var missing []string // innermost first
	dir := filepath.Clean(name)
	for ; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, dir)
	}
	if len(missing) == 0 {
		return os.MkdirAll(name, perm) // or says that it is no directory
	}
	// Who made that one may have been killed before it was durable.
	if err := fsys.SyncDir(filepath.Dir(dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for _, dir := range slices.Backward(missing) {
		if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := fsys.SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

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
