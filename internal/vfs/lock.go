package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

func (e *LockedError) Error() string {
	holder := "an unknown process"
	switch e.PID {
	case 0:
	case os.Getpid():
		holder = "this process, in another place"
	default:
		holder = "process " + strconv.Itoa(e.PID)
	}
	return fmt.Sprintf("lock %s: held by %s; close the log there, or open it read-only", e.Path, holder)
}

// Unwrap makes errors.Is find ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

// heldLock is the lock of an open file. It is given up by itself, before the
// file: a child of this process has a copy of the descriptor between its fork
// and its exec, and that would hold the lock on.
type heldLock struct {
	f      *os.File
	unlock func(*os.File) error
}

func (l *heldLock) Close() error { return errors.Join(l.unlock(l.f), l.f.Close()) }

// writePID leaves the holder's id in its lock file for others to report. It is
// a hint and no part of the lock, so its failure is none of Lock: a log on a
// full disk must open.
func writePID(f interface {
	io.WriterAt
	Truncate(int64) error
}) {
	pid := strconv.AppendInt(nil, int64(os.Getpid()), 10)
	pid = append(pid, '\n')
	if _, err := f.WriteAt(pid, 0); err == nil {
		_ = f.Truncate(int64(len(pid)))
	}
}

// readPID is the id writePID left, 0 if none can be read.
func readPID(f io.ReaderAt) int {
	var b [20]byte
	n, _ := f.ReadAt(b[:], 0)
	line, _, _ := bytes.Cut(b[:n], []byte{'\n'})
	pid, err := strconv.Atoi(string(line))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
