//go:build unix

package vfs

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// holdRecordLock takes the lock as a Java program does.
func holdRecordLock(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return onDescriptor(f, func(fd int) error {
		return unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	})
}

// TestLockRecords: the lock of a running broker is seen, with its process, and
// a broker sees ours.
func TestLockRecords(t *testing.T) {
	name := filepath.Join(t.TempDir(), recordLockName)
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holdLockEnv+"="+name)
	stdin, err := holder.StdinPipe()
	must(t, err)
	stderr, err := holder.StderrPipe()
	must(t, err)
	must(t, holder.Start())
	if line, err := bufio.NewReader(stderr).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	_, err = LockRecords(OS, name)
	var locked *LockedError
	if !errors.Is(err, ErrLocked) || !errors.As(err, &locked) || locked.PID != holder.Process.Pid {
		t.Errorf("LockRecords = %v, want ErrLocked by process %d", err, holder.Process.Pid)
	}
	must(t, stdin.Close())
	must(t, holder.Wait())

	lock, err := LockRecords(OS, name)
	must(t, err)
	second := exec.Command(os.Args[0])
	second.Env = append(os.Environ(), holdLockEnv+"="+name)
	if second.Run() == nil {
		t.Error("another process takes the lock that is ours")
	}
	must(t, lock.Close())
	lock, err = LockRecords(NewMem(), name)
	must(t, err)
	must(t, lock.Close())
}

// TestLocksEndWithClose: not with the last copy of their descriptor, of which a
// child that is being forked has one.
func TestLocksEndWithClose(t *testing.T) {
	dir := t.TempDir()
	for name, lock := range map[string]func(string) (io.Closer, error){
		"seglog.lock":  OS.Lock,
		recordLockName: func(name string) (io.Closer, error) { return LockRecords(OS, name) },
	} {
		name = filepath.Join(dir, name)
		first, err := lock(name)
		must(t, err)
		held, err := unix.Dup(int(first.(*heldLock).f.Fd()))
		must(t, err)
		must(t, first.Close())
		second, err := lock(name)
		must(t, err)
		must(t, second.Close())
		must(t, unix.Close(held))
	}
}
