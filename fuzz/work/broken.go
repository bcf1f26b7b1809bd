package work

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seglog/seglog/internal/vfs"
)

// Breaking is a file system that does something wrong, so that the other side
// can be seen to notice:
//
//	sync    nothing is synced
//	log     the logs of segments are not
//	names   no directory is
//	temp    files that are to replace others are not
//	again   what could not be synced is synced again, as if that helped
func Breaking(what string) (vfs.FS, error) {
	b := broken{FS: vfs.OS}
	switch what {
	case "":
		return vfs.OS, nil
	case "sync":
		b.names, b.skip = true, func(string) bool { return true }
	case "log":
		b.skip = func(name string) bool { return filepath.Ext(name) == ".log" }
	case "names":
		b.names, b.skip = true, func(string) bool { return false }
	case "temp":
		b.skip = func(name string) bool { return filepath.Ext(name) == vfs.TempSuffix }
	case "again":
		return stubborn{vfs.OS}, nil
	default:
		return nil, fmt.Errorf("nothing known to break is called %q", what)
	}
	return b, nil
}

type broken struct {
	vfs.FS
	names bool
	skip  func(name string) bool
}

func (b broken) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := b.FS.OpenFile(name, flag, perm)
	if err != nil || !b.skip(name) {
		return f, err
	}
	return unsynced{f}, nil
}

func (b broken) SyncDir(name string) error {
	if b.names {
		return nil
	}
	return b.FS.SyncDir(name)
}

type unsynced struct{ vfs.File }

func (unsynced) Sync() error { return nil }

// stubborn takes the answer of the second sync where the first one failed.
type stubborn struct{ vfs.FS }

func (s stubborn) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return syncedAgain{f}, nil
}

type syncedAgain struct{ vfs.File }

func (f syncedAgain) Sync() error {
	err := f.File.Sync()
	if err != nil {
		err = f.File.Sync()
	}
	return err
}
