package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// ErrSharing is what Windows answers to who removes, renames or cuts a file
// that is still in use.
var ErrSharing = errors.New("the file is being used (Windows sharing rules)")

// use is by how much a file is used.
type use struct{ opens, maps, locks int }

// InUse lists what is open, mapped or locked now, in words and sorted: what was
// leaked, once everything should have been given back.
func (f *Faulty) InUse() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for name, u := range f.mu.uses {
		list = append(list, fmt.Sprintf("%s: opened %d times, mapped %d, locked %d", name, u.opens, u.maps, u.locks))
	}
	slices.Sort(list)
	return list
}

func (f *Faulty) used(name string, by use) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	u := f.mu.uses[name]
	u.opens += by.opens
	u.maps += by.maps
	u.locks += by.locks
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
