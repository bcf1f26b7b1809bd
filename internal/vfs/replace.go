package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// TempSuffix ends the name of a file that is being written to replace another.
// One found lying around is of no use and may be removed.
const TempSuffix = ".tmp"

// WriteFile gives the file of that name the content, atomically and durably:
// temporary file, sync, rename, sync of the directory. After an error, as
// after a crash, the file is the old one or the new one and nothing else.
func WriteFile(fsys FS, name string, content []byte) error {
	tmp := name + TempSuffix
	err := writeTemp(fsys, tmp, content)
	if err == nil {
		err = Replace(fsys, tmp, name)
	}
	if err != nil && !errors.Is(err, ErrUnsettled) {
		_ = fsys.Remove(tmp)
	}
	return err
}

// ErrUnsettled says that a file was renamed, and that it may be again what it
// was after a crash.
var ErrUnsettled = errors.New("renamed, perhaps not durably")

// Replace renames a synced file over another and makes that durable. If only
// the latter fails the error is ErrUnsettled. All renames of the engine but
// SetAside's come through here.
func Replace(fsys FS, from, to string) error {
	if err := fsys.Rename(from, to); err != nil {
		return err
	}
	if err := fsys.SyncDir(filepath.Dir(to)); err != nil {
		return fmt.Errorf("%s %w: %w", to, ErrUnsettled, err)
	}
	return nil
}

// SetAside renames a file that nothing needs any more, not durably: after a crash
// it may have its old name again. An absent file is no error.
func SetAside(fsys FS, from, to string) error {
	if err := fsys.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func writeTemp(fsys FS, name string, content []byte) (err error) {
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(content, 0); err != nil {
		return err
	}
	return f.Sync()
}

// ReadFile is the whole content of a file. A file that ends before its length
// is io.ErrUnexpectedEOF, never a shorter content; one that somebody cut between
// our asking for its length and reading it is read again.
func ReadFile(fsys FS, name string) (content []byte, err error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	for err == nil {
		content = make([]byte, size)
		if err = ReadFull(f, content, 0); !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		asked, short := size, err
		if size, err = f.Size(); err == nil && size >= asked {
			err = short
		}
	}
	return content, err
}

// ReadFull reads len(p) bytes at off. That there are fewer is
// io.ErrUnexpectedEOF.
func ReadFull(f File, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := f.ReadAt(p, off)
	switch {
	case err == io.EOF && n == len(p):
		return nil
	case err == io.EOF:
		return &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("%w: %d bytes of %d at %d", io.ErrUnexpectedEOF, n, len(p), off)}
	}
	return err
}

// Unreadable says whether an error, of reading a file, is that it could not be
// read now: for want of descriptors, say. It may be sound, so it must be taken
// neither for an absent file nor for a damaged one.
func Unreadable(err error) bool {
	return errors.As(err, new(*fs.PathError)) && !errors.Is(err, fs.ErrNotExist)
}
