package vfs

import (
	"errors"
	"io"
	"os"
)

// errNoRecordLocks says that the file system, or the host, has none.
var errNoRecordLocks = errors.New("no record locks here")

// LockRecords takes the lock that Java's FileLock takes, of a file created if
// absent: another one than Lock takes, and what a Kafka broker holds of its log
// directories. One that is held is ErrLocked in a *LockedError.
//
// Where there is no such lock (another FS than OS, or a mount without), nothing
// is locked and that is no error.
func LockRecords(fsys FS, name string) (io.Closer, error) {
	if fsys != OS {
		return io.NopCloser(nil), nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	pid, err := lockRecords(f)
	switch {
	case err == nil:
		return &heldLock{f, unlockRecords}, nil
	case errors.Is(err, errNoRecordLocks):
		return io.NopCloser(nil), f.Close()
	case errors.Is(err, ErrLocked):
		err = &LockedError{Path: name, PID: pid}
	default:
		err = &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return nil, errors.Join(err, f.Close())
}
