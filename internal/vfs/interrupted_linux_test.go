//go:build amd64 || arm64

package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// interruptedCalls are the system calls of OS that are made without package os,
// or that it does not repeat, and the argument that tells ours from the Go
// runtime's, -1 for all.
var interruptedCalls = []struct {
	name string
	nr   uint32
	arg  int
	mask uint32
}{
	{"fdatasync", unix.SYS_FDATASYNC, -1, 0},
	{"fallocate", unix.SYS_FALLOCATE, -1, 0},
	{"flock", unix.SYS_FLOCK, -1, 0},
	{"fcntl", unix.SYS_FCNTL, 1, 0x24}, // F_OFD_GETLK and the like
	{"mmap", unix.SYS_MMAP, 3, unix.MAP_SHARED},
	{"munmap", unix.SYS_MUNMAP, -1, 0},
	{"utimensat", unix.SYS_UTIMENSAT, -1, 0},
	{"fsync", unix.SYS_FSYNC, -1, 0},
	{"ftruncate", unix.SYS_FTRUNCATE, -1, 0},
	{"pwrite", unix.SYS_PWRITE64, -1, 0},
	{"pread", unix.SYS_PREAD64, -1, 0},
	{"openat", unix.SYS_OPENAT, -1, 0},
	{"unlinkat", unix.SYS_UNLINKAT, -1, 0},
	{"getdents", unix.SYS_GETDENTS64, -1, 0},
}

// TestEveryCallIsInterrupted: a signal interrupts every system call of the host
// twice, and no operation answers EINTR. The kernel is made to say so to one
// thread by a seccomp filter that asks this process what to answer.
func TestEveryCallIsInterrupted(t *testing.T) {
	interrupted := make(map[uint32]int)
	listener := make(chan int)
	done := make(chan []error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		fd, err := interruptThisThread()
		if err != nil {
			t.Log(err)
			listener <- -1
			return
		}
		listener <- fd
		dir := filepath.Join(t.TempDir(), "d")
		done <- everyCall(dir)
	}()
	fd := <-listener
	if fd < 0 {
		t.Skip("NO CALL WAS INTERRUPTED: the kernel does not let this process filter its calls")
	}
	defer func() { must(t, unix.Close(fd)) }()
	var supervisor sync.WaitGroup
	var ended atomic.Bool
	supervisor.Go(func() { supervise(t, fd, &ended, interrupted) })
	for _, err := range <-done {
		t.Error(err)
	}
	ended.Store(true)
	supervisor.Wait()
	for _, c := range interruptedCalls {
		if interrupted[c.nr] == 0 {
			t.Errorf("%s was never interrupted", c.name)
		}
	}
}

// everyCall makes every call of OS.
func everyCall(dir string) (failed []error) {
	note := func(err error) bool {
		if err != nil {
			failed = append(failed, err)
		}
		return err == nil
	}
	note(MkdirAll(OS, dir, 0o755))
	name := filepath.Join(dir, "a")
	f, err := OS.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if !note(err) {
		return failed
	}
	note(f.Allocate(0, 8192))
	_, err = f.WriteAt([]byte("0123456789"), 0)
	note(err)
	if m, err := f.Map(8192, true); note(err) {
		m.Bytes()[4096] = 1
		note(f.Sync())
		note(m.Unmap())
	}
	note(ReadFull(f, make([]byte, 10), 0))
	note(f.Truncate(10))
	_, err = f.Size()
	note(err)
	note(f.Close())
	_, err = OS.Stat(name)
	note(err)
	note(OS.SetModTime(name, time.Now()))
	_, err = OS.ReadDir(dir)
	note(err)
	note(Replace(OS, name, name+"2"))
	note(OS.Remove(name + "2"))
	for _, lock := range []func(string) (io.Closer, error){OS.Lock, func(name string) (io.Closer, error) { return LockRecords(OS, name) }} {
		if l, err := lock(name); note(err) {
			note(l.Close())
		}
	}
	return failed
}

// interruptThisThread installs the filter. The descriptor is to be asked by.
func interruptThisThread() (fd int, err error) {
	const nr, args = 0, 16 // in struct seccomp_data
	statement := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	load := func(offset uint32) unix.SockFilter { return statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }
	answer := func(what uint32) unix.SockFilter { return statement(unix.BPF_RET|unix.BPF_K, what) }
	var program []unix.SockFilter
	for _, c := range interruptedCalls {
		ask := []unix.SockFilter{answer(unix.SECCOMP_RET_USER_NOTIF)}
		if c.arg >= 0 {
			ask = append([]unix.SockFilter{load(args + 8*uint32(c.arg)),
				{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: c.mask}}, ask...)
		}
		program = append(program, load(nr), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(len(ask)), K: c.nr})
		program = append(program, ask...)
	}
	program = append(program, answer(unix.SECCOMP_RET_ALLOW))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

// notification and response are struct seccomp_notif and seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	nr, arch   uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// supervise lets every third call through, until the calls have ended.
func supervise(t *testing.T, fd int, ended *atomic.Bool, interrupted map[uint32]int) {
	const milliseconds = 20
	asked := make(map[uint32]int)
	for !ended.Load() {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, milliseconds); n == 0 || errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || poll[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if asked[n.nr]++; asked[n.nr]%3 != 0 {
			r = response{id: n.id, err: -int32(syscall.EINTR)}
			interrupted[n.nr]++
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r))); errno != 0 && errno != unix.ENOENT {
			t.Error(errno)
		}
	}
}
