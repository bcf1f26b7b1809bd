package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// TempSuffix ends the name of a file that is being written to replace another.
// One found lying around is of no use and may be removed.
const TempSuffix = ".tmp"

// WriteFile gives the file of that name the content, atomically and durably:
// temporary file, sync, rename, sync of the directory. After an error, as
// after a crash, the file is the old one or the new one and nothing else.
func WriteFile(fs FS, name string, content []byte) error {
	tmp := name + TempSuffix
	if err := writeTemp(fs, tmp, content); err != nil {
		_ = fs.Remove(tmp)
		return err
	}
	return Replace(fs, tmp, name)
}

// Replace renames a synced file over another and makes that durable. All
// renames of the engine come through here.
func Replace(fs FS, from, to string) error {
	if err := fs.Rename(from, to); err != nil {
		return err
	}
	return fs.SyncDir(filepath.Dir(to))
}

func writeTemp(fs FS, name string, content []byte) (err error) {
	f, err := fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(content, 0); err != nil {
		return err
	}
	return f.Sync()
}

// ReadFile is the whole content of a file.
func ReadFile(fs FS, name string) (content []byte, err error) {
	f, err := fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	content = make([]byte, size)
	if _, err := f.ReadAt(content, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return content, nil
}
