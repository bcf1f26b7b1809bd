// Package vfs is the file system the engine sees: the few calls it makes, with
// the promises it relies on written next to each.
//
// There are three of them. OS is the real one. Mem keeps everything in memory
// and, asked to, remembers what a power cut could take back. Faulty wraps
// either and fails the calls its rules name.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// FS is a file system. All methods may be called concurrently.
//
// Names are slash-separated or native paths as the host takes them. Errors
// wrap the host's and name the path, so errors.Is finds fs.ErrNotExist,
// syscall.ENOSPC and their like. A name made, changed or removed is durable
// only after SyncDir of its directory.
type FS interface {
	// OpenFile opens a file as os.OpenFile does; flag is made of os.O_RDONLY,
	// os.O_RDWR, os.O_CREATE, os.O_EXCL and os.O_TRUNC.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Mkdir makes a directory in one that is there. One of that name is
	// fs.ErrExist, as is a file.
	Mkdir(name string, perm fs.FileMode) error
	// Rename moves a file over any file of the new name, atomically.
	Rename(oldname, newname string) error
	// Remove unlinks a file. Open files and mappings of it stay valid. The
	// absent file is fs.ErrNotExist.
	Remove(name string) error
	// ReadDir lists a directory's names, sorted.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Stat tells size and modification time.
	Stat(name string) (fs.FileInfo, error)
	// SetModTime sets a file's modification time, which need not be durable.
	SetModTime(name string, t time.Time) error
	// SyncDir makes the directory's names durable: what was created, renamed
	// and removed in it before the call. A documented no-op on Windows.
	SyncDir(name string) error
	// Boot names this run of the machine and the place of a directory that is
	// there: as long as it is the same, all that was written to the directory's
	// files is there, synced or not. A copy of the directory has another one. It is "", which says
	// nothing, where the host does not tell.
	Boot(dir string) string
	// Lock takes the exclusive advisory lock of a file, created if absent,
	// and writes this process's id into it. A lock that someone else holds
	// (another process, or another Lock of this one) is ErrLocked, wrapped in
	// a *LockedError. Closing the result releases the lock.
	Lock(name string) (io.Closer, error)
}

// File is one open file.
//
// ReadAt, WriteAt, Size and Sync may be called concurrently. Reads, writes and
// mappings of one file are coherent: bytes stored through one are seen through
// the others at once.
type File interface {
	io.ReaderAt
	// WriteAt writes all of p or returns an error; the file grows as needed.
	io.WriterAt
	io.Closer
	// Name is the path the file was opened by.
	Name() string
	// Size is the length in bytes.
	Size() (int64, error)
	// Truncate sets the length. Bytes above a new end are gone; a longer file
	// reads zeros there, with no room reserved for them.
	Truncate(size int64) error
	// Allocate makes the file at least end bytes long and reserves room for
	// [from, end), so that no later store to that range, mapped or written,
	// finds the disk full. It fails with ENOSPC and leaves the length as it
	// was when there is no room. Bytes already there are kept.
	Allocate(from, end int64) error
	// Sync makes contents and length durable, bytes stored through live
	// mappings made by this File included. After an error the contents of unsynced ranges
	// are unknown: the kernel may have dropped them.
	Sync() error
	// Map maps [0, length). A writable mapping may reach past the end of the
	// file (its pages must not be touched before Allocate covers them; where
	// the platform cannot do that, Windows, Map makes the file that long
	// first). So may a read-only one, where on Windows it is an error. Length
	// 0 is an error. The mapping outlives Close of the file and its removal.
	Map(length int64, writable bool) (Mapping, error)
}

// Mapping is a file's memory, shared with everyone who maps or reads the file.
//
// Touching a page past the end of the file, or one the device fails to
// deliver, faults: see Guard.
type Mapping interface {
	// Bytes is the mapped range. It must not be touched after Unmap.
	Bytes() []byte
	// Unmap gives the address range back. It is called once.
	Unmap() error
}

// Storer is a Mapping that wants to make the stores into it itself, for a test
// that stops the machine between two of them or within one. Of such a mapping
// Bytes is only read, and every store is a call of Store.
type Storer interface {
	Mapping
	// Store does what copy(Bytes()[at:], b) does. It keeps no byte of b.
	Store(at int64, b []byte)
}

// StoreOf is the way to store into m: nil where it is memory like any other.
func StoreOf(m Mapping) func(at int64, b []byte) {
	if s, ok := m.(Storer); ok {
		return s.Store
	}
	return nil
}

// Ahead is a File that another goroutine than its owner's may write to, which
// shows in nothing but time: the system's own. Where calls are counted, failed or
// cut short in turn that is not so.
type Ahead interface {
	File
	// WriteBack has [from, end) begin its way to the device. It is a hint: nothing
	// waits for it or is told what became of it, but the next Sync.
	WriteBack(from, end int64)
}

// AheadOf is f as one that is written to ahead, nil where it is not.
func AheadOf(f File) Ahead {
	if a, ok := f.(*osFile); ok {
		return a
	}
	return nil
}

// ErrLocked says that a lock has another holder.
var ErrLocked = errors.New("locked by another process")

// LockedError is how Lock reports ErrLocked.
type LockedError struct {
	Path string
	PID  int // the holder's process id, 0 where it could not be read
}
