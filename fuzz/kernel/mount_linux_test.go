package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// insideEnv says that a test runs in a mount namespace of its own.
const insideEnv = "SEGLOG_KERNEL_INSIDE"

// inside runs the test again in a mount namespace of its own, where what it
// mounts is gone with it, and reports false; inside it reports true.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideEnv) != "" {
		require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	for _, a := range os.Args[1:] {
		if !bytes.HasPrefix([]byte(a), []byte("-test.")) {
			args = append(args, a)
		}
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL):
		t.Skipf("NOT TESTED ON REAL FILE SYSTEMS: no mount namespaces here: %v", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	default:
		t.Logf("inside:\n%s", out)
	}
	return false
}

// volume is a small file system of its own.
type volume struct {
	t       *testing.T
	kind    string
	dir     string
	ballast string // a file that takes the room away
}

// volumes are those that can be had here, and what is said of the others.
func volumes(t *testing.T) (list []*volume) {
	t.Helper()
	for _, v := range []struct {
		kind string
		size int64
		make []string // a file system in an image
	}{
		{"tmpfs", 8 << 20, nil},
		{"ext4", 16 << 20, []string{"mkfs.ext4", "-q", "-F", "-m", "0", "-b", "4096", "-O", "^resize_inode"}},
		{"xfs", 320 << 20, []string{"mkfs.xfs", "-q", "-f"}},
	} {
		dir := filepath.Join(t.TempDir(), v.kind)
		require.NoError(t, os.Mkdir(dir, 0o755))
		if err := mountSmall(v.kind, v.size, v.make, dir); err != nil {
			t.Logf("NOT TESTED ON %s: %v", v.kind, err)
			continue
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		list = append(list, &volume{t: t, kind: v.kind, dir: dir, ballast: filepath.Join(dir, "ballast")})
	}
	return list
}

func mountSmall(kind string, size int64, mkfs []string, dir string) error {
	if mkfs == nil {
		return unix.Mount(kind, dir, kind, 0, fmt.Sprintf("size=%d", size))
	}
	image := dir + ".image"
	if err := os.WriteFile(image, nil, 0o644); err != nil {
		return err
	}
	if err := os.Truncate(image, size); err != nil {
		return err
	}
	for _, cmd := range []*exec.Cmd{exec.Command(mkfs[0], append(mkfs[1:], image)...), exec.Command("mount", "-o", "loop", "-t", kind, image, dir)} {
		cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
		if cmd.Err != nil {
			for _, sbin := range []string{"/usr/sbin/", "/sbin/"} {
				if _, err := os.Stat(sbin + mkfs[0]); err == nil {
					cmd.Path, cmd.Err = sbin+mkfs[0], nil
				}
			}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w: %s", cmd, err, out)
		}
	}
	return nil
}

// free is the room that is left.
func (v *volume) free() int64 {
	var s unix.Statfs_t
	require.NoError(v.t, unix.Statfs(v.dir, &s))
	return int64(s.Bavail) * int64(s.Bsize)
}

// fill takes room away until that much is left, or a little less.
func (v *volume) fill(left int64) {
	v.t.Helper()
	f, err := os.OpenFile(v.ballast, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	require.NoError(v.t, err)
	defer f.Close()
	require.NoError(v.t, unix.Syncfs(int(f.Fd()))) // what is yet to be allocated takes room, too
	for step := int64(1 << 30); step >= 4096; {
		info, err := f.Stat()
		require.NoError(v.t, err)
		n := min(v.free()-left, step) / 4096 * 4096
		if n <= 0 {
			break
		}
		if err = unix.Fallocate(int(f.Fd()), 0, info.Size(), n); err != nil {
			require.ErrorIs(v.t, err, unix.ENOSPC)
			require.NoError(v.t, f.Truncate(info.Size()))
			step = n / 2
		}
	}
	for left == 0 && err == nil { // to the last byte, whatever the file system says
		_, err = f.Write(make([]byte, 512))
	}
	require.NoError(v.t, unix.Syncfs(int(f.Fd())))
}

// makeRoom gives all of it back.
func (v *volume) makeRoom() {
	v.t.Helper()
	require.NoError(v.t, os.RemoveAll(v.ballast))
	d, err := os.Open(v.dir)
	require.NoError(v.t, err)
	defer d.Close()
	require.NoError(v.t, unix.Syncfs(int(d.Fd())))
}
