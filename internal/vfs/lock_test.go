package vfs

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

const holdLockEnv = "VFS_TEST_HOLD_LOCK"

// recordLockName is that of a file of which holders take a broker's lock.
const recordLockName = ".lock"

// TestMain turns the test binary into a process that holds a lock until its
// standard input ends, when a test asks for one.
func TestMain(m *testing.M) {
	if name := os.Getenv(holdLockEnv); name != "" {
		hold := func(name string) error { _, err := OS.Lock(name); return err }
		if filepath.Base(name) == recordLockName {
			hold = holdRecordLock
		}
		if err := hold(name); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		println("held")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // without a Close: the kernel releases it
	}
	goleak.VerifyTestMain(m)
}

// TestPitfallW2LockAcrossProcesses: a lock that reports success without
// locking lets two writers into one log.
func TestPitfallW2LockAcrossProcesses(t *testing.T) {
	// Relies on A11 (docs/ASSUMPTIONS.md).
	name := filepath.Join(t.TempDir(), "seglog.lock")
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

	_, err = OS.Lock(name)
	var locked *LockedError
	if !errors.Is(err, ErrLocked) || !errors.As(err, &locked) || locked.PID != holder.Process.Pid {
		t.Errorf("Lock = %v, want ErrLocked by process %d", err, holder.Process.Pid)
	}
	must(t, stdin.Close())
	must(t, holder.Wait())
	lock, err := OS.Lock(name)
	must(t, err)
	must(t, lock.Close())
	if _, err := os.Stat(name); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
}

func TestLockedErrorTellsWhatToDo(t *testing.T) {
	for pid, want := range map[int]string{0: "unknown", os.Getpid(): "this process", 1 << 30: "process 1073741824"} {
		s := (&LockedError{Path: "/data/seglog.lock", PID: pid}).Error()
		for _, part := range []string{want, "/data/seglog.lock", "read-only"} {
			if !strings.Contains(s, part) {
				t.Errorf("%q lacks %q", s, part)
			}
		}
	}
}

func TestReadPID(t *testing.T) {
	for content, want := range map[string]int{
		"42\n": 42, "42": 42, "7\nleft of a longer one": 7,
		"": 0, "\n": 0, "x\n": 0, "-3\n": 0, "99999999999999999999999\n": 0,
	} {
		if got := readPID(strings.NewReader(content)); got != want {
			t.Errorf("readPID(%q) = %d, want %d", content, got, want)
		}
	}
}
