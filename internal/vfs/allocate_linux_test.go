package vfs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const smallDiskEnv = "VFS_TEST_SMALL_DISK"

// TestAllocateOnAFullDisk runs itself in a mount namespace of its own, where it
// may mount a file system of 1 MiB.
func TestAllocateOnAFullDisk(t *testing.T) {
	// Relies on A1 (docs/ASSUMPTIONS.md).
	if os.Getenv(smallDiskEnv) == "" {
		inside := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		inside.Env = append(os.Environ(), smallDiskEnv+"=1")
		inside.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := inside.CombinedOutput()
		if errors.Is(err, syscall.EPERM) || bytes.Contains(out, []byte("--- SKIP")) {
			t.Skipf("NO REAL DISK WAS FILLED: no mount namespaces here: %v", err)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("NO REAL DISK WAS FILLED: mounting a tmpfs: %v", err)
	}
	defer func() { must(t, syscall.Unmount(dir, 0)) }()

	f := create(t, OS, filepath.Join(dir, "a"))
	write(t, f, 0, "kept")
	for _, size := range []int64{2 << 20, 64 << 20} {
		if err := f.Allocate(0, size); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Allocate(%d) = %v, want ENOSPC", size, err)
		}
		wantSize(t, f, 4)
	}
	must(t, f.Allocate(0, 512<<10))
	wantRead(t, f, 0, "kept\x00")
	byZeros := func(f *os.File, size, _, end int64) error { return writeZeros(f, size, end) }
	if err := f.(*osFile).allocateBy(byZeros, 0, 2<<20); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("allocating by zeros = %v, want ENOSPC", err)
	}
	wantSize(t, f, 512<<10) // as after ext4's fallocate, it had grown on the way
	must(t, f.Close())
}
