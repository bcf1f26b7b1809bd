package vfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Mkdir implements FS.
func (m *Mem) Mkdir(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, p := m.mu.live.find(name)
	var err error
	switch {
	case m.mu.dead:
		err = ErrCrashed
	case n != nil:
		err = fs.ErrExist
	case p.dir == nil:
		err = fs.ErrNotExist
	default:
		m.changeLocked(nameChange{node: m.newNodeLocked(fs.ModeDir | perm.Perm()), to: p})
		return nil
	}
	return &fs.PathError{Op: "mkdir", Path: name, Err: err}
}

// Rename implements FS. It moves directories, too, but over nothing.
func (m *Mem) Rename(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	fail := func(err error) error {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	n, from := m.mu.live.find(oldname)
	over, to := m.mu.live.find(newname)
	switch {
	case m.mu.dead:
		return fail(ErrCrashed)
	case n == nil || to.dir == nil:
		return fail(fs.ErrNotExist)
	case over == n:
		return nil
	case over != nil && (over.isDir() || n.isDir()):
		return fail(fs.ErrExist)
	}
	m.changeLocked(nameChange{node: n, from: from, to: to})
	if over != nil {
		m.releaseLocked(over)
	}
	return nil
}

// Remove implements FS. It removes empty directories, too.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, from := m.mu.live.find(name)
	var err error
	switch {
	case m.mu.dead:
		err = ErrCrashed
	case n == nil:
		err = fs.ErrNotExist
	case n.isDir() && len(m.mu.live.in[n]) > 0:
		err = syscall.ENOTEMPTY
	case from.dir == nil:
		err = fs.ErrInvalid // the root
	default:
		m.changeLocked(nameChange{node: n, from: from})
		m.releaseLocked(n)
		return nil
	}
	return &fs.PathError{Op: "remove", Path: name, Err: err}
}

// ReadDir implements FS.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, err := m.dirLocked("readdir", name)
	if err != nil {
		return nil, err
	}
	names := m.mu.live.names(dir)
	entries := make([]fs.DirEntry, len(names))
	for i, name := range names {
		entries[i] = fs.FileInfoToDirEntry(infoOf(name, m.mu.live.in[dir][name]))
	}
	return entries, nil
}

// SetModTime implements FS.
func (m *Mem) SetModTime(name string, t time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _ := m.mu.live.find(name)
	switch {
	case m.mu.dead:
		return &fs.PathError{Op: "setmodtime", Path: name, Err: ErrCrashed}
	case n == nil:
		return &fs.PathError{Op: "setmodtime", Path: name, Err: fs.ErrNotExist}
	}
	n.modified = t
	return nil
}

// Stat implements FS.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _ := m.mu.live.find(name)
	switch {
	case m.mu.dead:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: ErrCrashed}
	case n == nil:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return infoOf(filepath.Base(name), n), nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, err := m.dirLocked("syncdir", name)
	if err != nil {
		return err
	}
	m.settleNamesLocked(func(c nameChange) bool { return c.from.dir == dir || c.to.dir == dir })
	return nil
}

// dirLocked is the node of a directory.
func (m *Mem) dirLocked(op, name string) (*memNode, error) {
	n, _ := m.mu.live.find(name)
	var err error
	switch {
	case m.mu.dead:
		err = ErrCrashed
	case n == nil:
		err = fs.ErrNotExist
	case !n.isDir():
		err = syscall.ENOTDIR
	default:
		return n, nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: err}
}
