package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// ErrSharing is what Windows answers to who removes, renames or cuts a file
// that is still in use.
var ErrSharing = errors.New("the file is being used (Windows sharing rules)")

// use is by how much a file is used.
type use struct{ opens, maps int }

func (f *Faulty) used(name string, by use) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	u := f.mu.uses[name]
	u.opens += by.opens
	u.maps += by.maps
	f.mu.uses[name] = u
	if u == (use{}) {
		delete(f.mu.uses, name)
	}
}

func (f *Faulty) inUse(name string) bool { return f.useOf(name) != use{} }

func (f *Faulty) useOf(name string) use {
	if !f.WindowsSharing {
		return use{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.uses[filepath.Clean(name)]
}

// mayCut refuses to cut a mapped file, as ERROR_USER_MAPPED_FILE does.
func (f *Faulty) mayCut(file File, size int64) error {
	if f.useOf(file.Name()).maps == 0 {
		return nil
	}
	if now, err := file.Size(); err != nil || size >= now {
		return err
	}
	return &fs.PathError{Op: "truncate", Path: file.Name(), Err: ErrSharing}
}
