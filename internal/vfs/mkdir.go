package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
)

// MkdirAll makes a directory and its missing parents, from the outside in, each
// one's name durable before the next is made. The innermost that was there may be
// one whose maker was killed before it came to that: if any is missing, its name is
// made durable first, where that is permitted.
func MkdirAll(fsys FS, name string, perm fs.FileMode) error {
	var missing []string // innermost first
	dir := filepath.Clean(name)
	for ; ; dir = filepath.Dir(dir) {
		info, err := fsys.Stat(dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, dir)
	}
	if len(missing) == 0 {
		return nil
	}
	if err := fsys.SyncDir(filepath.Dir(dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	for _, dir := range slices.Backward(missing) {
		if err := fsys.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := fsys.SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}
