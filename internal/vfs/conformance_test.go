package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestConformance holds every implementation to the contract in vfs.go.
func TestConformance(t *testing.T) {
	systems := map[string]func(t *testing.T) (FS, string){
		"OS":     func(t *testing.T) (FS, string) { return OS, t.TempDir() },
		"Mem":    func(t *testing.T) (FS, string) { return newMemDir(t, NewMem()) },
		"Faulty": func(t *testing.T) (FS, string) { return newMemDir(t, NewFaulty(NewMem())) },
		"Killed": func(t *testing.T) (FS, string) {
			m := NewMem()
			_, dir := newMemDir(t, m)
			return m.Kill(), dir
		},
	}
	clauses := map[string]func(t *testing.T, fsys FS, dir string){
		"coherence":          testCoherence,
		"ends":               testEnds,
		"truncate":           testTruncate,
		"allocate":           testAllocate,
		"map":                testMap,
		"open flags":         testOpenFlags,
		"absent":             testAbsent,
		"closed":             testClosed,
		"rename over":        testRenameOver,
		"removed but in use": testRemovedInUse,
		"directories":        testDirectories,
		"mkdir":              testMkdir,
		"lock":               testLock,
		"modification time":  testModTime,
		"boot":               testBoot,
	}
	for system, open := range systems {
		for clause, test := range clauses {
			t.Run(system+"/"+clause, func(t *testing.T) {
				switch clause {
				case "rename over", "removed but in use", "map", "coherence":
					if system == "OS" && !posixFiles {
						t.Skip("not on this host")
					}
				}
				fsys, dir := open(t)
				test(t, fsys, dir)
			})
		}
	}
}

func newMemDir(t *testing.T, fsys FS) (FS, string) {
	t.Helper()
	dir := filepath.FromSlash("/data/topic-0")
	must(t, MkdirAll(fsys, dir, 0o755))
	return fsys, dir
}

func testCoherence(t *testing.T, fsys FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "a"))
	must(t, f.Allocate(0, 8192))
	w := mapFile(t, f, 1<<20, true)
	other, err := fsys.OpenFile(f.Name(), os.O_RDONLY, 0)
	must(t, err)
	defer other.Close()
	r := mapFile(t, other, 8192, false)

	copy(w[4090:], "through the mapping")
	wantRead(t, other, 4090, "through the mapping")
	write(t, f, 100, "through a write")
	if got := string(w[100:115]); got != "through a write" {
		t.Errorf("writable mapping has %q", got)
	}
	if got := string(r[100:115]); got != "through a write" {
		t.Errorf("read-only mapping has %q", got)
	}
	// The file grows under the mapping.
	must(t, f.Allocate(8192, 1<<20))
	copy(w[1<<20-3:], "end")
	wantRead(t, other, 1<<20-3, "end")
	must(t, f.Sync())
}

func testEnds(t *testing.T, fsys FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "a"))
	write(t, f, 3, "abc") // a hole in front
	wantSize(t, f, 6)
	wantRead(t, f, 0, "\x00\x00\x00abc")
	p := make([]byte, 4)
	if n, err := f.ReadAt(p, 4); n != 2 || err != io.EOF {
		t.Errorf("read across the end = %d, %v", n, err)
	}
	if n, err := f.ReadAt(p, 6); n != 0 || err != io.EOF {
		t.Errorf("read at the end = %d, %v", n, err)
	}
	if _, err := f.ReadAt(p, -1); err == nil || err == io.EOF {
		t.Errorf("read at -1: %v", err)
	}
	if _, err := f.WriteAt(p, -1); err == nil {
		t.Error("write at -1 succeeded")
	}
	if n, err := f.WriteAt(nil, 100); n != 0 || err != nil {
		t.Errorf("empty write = %d, %v", n, err)
	}
	wantSize(t, f, 6)
}

func testTruncate(t *testing.T, fsys FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "a"))
	write(t, f, 0, strings.Repeat("x", 1000))
	must(t, f.Truncate(10))
	wantSize(t, f, 10)
	must(t, f.Truncate(20))
	wantRead(t, f, 0, "xxxxxxxxxx"+strings.Repeat("\x00", 10))
	write(t, f, 30, "y")
	wantRead(t, f, 20, strings.Repeat("\x00", 10)+"y")
	if err := f.Truncate(-1); err == nil {
		t.Error("negative length accepted")
	}
}

func testAllocate(t *testing.T, fsys FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "a"))
	write(t, f, 0, "kept")
	must(t, f.Allocate(0, 10_000))
	wantSize(t, f, 10_000)
	wantRead(t, f, 0, "kept\x00")
	wantRead(t, f, 9_998, "\x00\x00")
	must(t, f.Allocate(0, 100)) // never shortens
	must(t, f.Allocate(20_000, 20_000))
	wantSize(t, f, 10_000)
	must(t, f.Allocate(9_000, 70_000))
	wantSize(t, f, 70_000)
	for _, r := range [][2]int64{{-1, 5}, {5, 4}} {
		if err := f.Allocate(r[0], r[1]); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("Allocate(%d, %d) = %v", r[0], r[1], err)
		}
	}
}

func testMap(t *testing.T, fsys FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "a"))
	for _, length := range []int64{0, -1} {
		if _, err := f.Map(length, true); err == nil || !strings.Contains(err.Error(), f.Name()) {
			t.Errorf("Map(%d) = %v, want an error that names the file", length, err)
		}
	}
	m, err := f.Map(12345, true) // of an empty file
	must(t, err)
	if b := m.Bytes(); len(b) != 12345 || cap(b) != 12345 {
		t.Errorf("mapped %d bytes, capacity %d", len(b), cap(b))
	}
	wantSize(t, f, 0)
	must(t, m.Unmap())
	r, err := fsys.OpenFile(f.Name(), os.O_RDONLY, 0)
	must(t, err)
	defer r.Close()
	if _, err := r.Map(100, true); err == nil {
		t.Error("writable mapping of a read-only file")
	}
	if _, err := r.WriteAt([]byte("x"), 0); err == nil {
		t.Error("write to a read-only file")
	}
}

func testOpenFlags(t *testing.T, fsys FS, dir string) {
	name := filepath.Join(dir, "a")
	write(t, create(t, fsys, name), 0, "old")
	if _, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); !errors.Is(err, fs.ErrExist) {
		t.Errorf("exclusive create of a present file: %v", err)
	}
	wantContent(t, fsys, name, "old")
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	must(t, err)
	defer f.Close()
	wantSize(t, f, 0)
	if f.Name() != name {
		t.Errorf("Name = %q, want %q", f.Name(), name)
	}
}

func testAbsent(t *testing.T, fsys FS, dir string) {
	gone := filepath.Join(dir, "gone")
	errs := map[string]error{
		"remove":  fsys.Remove(gone),
		"rename":  fsys.Rename(gone, filepath.Join(dir, "b")),
		"syncdir": fsys.SyncDir(gone),
	}
	_, errs["open"] = fsys.OpenFile(gone, os.O_RDWR, 0)
	_, errs["stat"] = fsys.Stat(gone)
	errs["setmodtime"] = fsys.SetModTime(gone, time.Now())
	_, errs["readdir"] = fsys.ReadDir(gone)
	_, errs["create in it"] = fsys.OpenFile(filepath.Join(gone, "x"), os.O_RDWR|os.O_CREATE, 0o644)
	_, errs["lock in it"] = fsys.Lock(filepath.Join(gone, "x"))
	for op, err := range errs {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), gone) {
			t.Errorf("%s = %v, want fs.ErrNotExist that names the path", op, err)
		}
	}
}

func testClosed(t *testing.T, fsys FS, dir string) {
	f := create(t, fsys, filepath.Join(dir, "a"))
	must(t, f.Allocate(0, 100))
	m, err := f.Map(100, true)
	must(t, err)
	must(t, f.Close())
	m.Bytes()[0] = 'x' // outlives the file
	must(t, m.Unmap())
	wantContent(t, fsys, f.Name(), "x"+strings.Repeat("\x00", 99))

	_, sizeErr := f.Size()
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	for op, err := range map[string]error{"size": sizeErr, "read": readErr, "sync": f.Sync(), "allocate": f.Allocate(0, 200), "close": f.Close()} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s of a closed file: %v", op, err)
		}
	}
}

func testRenameOver(t *testing.T, fsys FS, dir string) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, create(t, fsys, a), 0, "new")
	old := create(t, fsys, b)
	write(t, old, 0, "old")
	must(t, fsys.Rename(a, b))
	must(t, fsys.SyncDir(dir))
	wantContent(t, fsys, b, "new")
	wantRead(t, old, 0, "old")
	if _, err := fsys.Stat(a); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name is still there: %v", err)
	}
	must(t, fsys.Rename(b, b))
	wantContent(t, fsys, b, "new")
}

func testRemovedInUse(t *testing.T, fsys FS, dir string) {
	name := filepath.Join(dir, "a")
	f := create(t, fsys, name)
	write(t, f, 0, "still here")
	b := mapFile(t, f, 10, false)
	must(t, fsys.Remove(name))
	wantRead(t, f, 0, "still here")
	write(t, create(t, fsys, name), 0, "another one")
	if string(b) != "still here" {
		t.Errorf("mapping of a removed file has %q", b)
	}
}

func testDirectories(t *testing.T, fsys FS, dir string) {
	sub := filepath.Join(dir, "x", "y")
	must(t, MkdirAll(fsys, sub, 0o755))
	must(t, MkdirAll(fsys, sub, 0o755))
	for _, name := range []string{"c", "a", "b"} {
		write(t, create(t, fsys, filepath.Join(sub, name)), 0, name+name)
	}
	entries, err := fsys.ReadDir(sub)
	must(t, err)
	var got []string
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		got = append(got, e.Name()+strconv.FormatInt(info.Size(), 10))
	}
	if s := strings.Join(got, " "); s != "a2 b2 c2" {
		t.Errorf("ReadDir = %s", s)
	}
	info, err := fsys.Stat(sub)
	must(t, err)
	if !info.IsDir() || info.Name() != "y" {
		t.Errorf("Stat = %s, directory %t", info.Name(), info.IsDir())
	}
	if err := fsys.Remove(sub); err == nil {
		t.Error("removed a directory that is not empty")
	}
	if err := MkdirAll(fsys, filepath.Join(sub, "a", "b"), 0o755); err == nil {
		t.Error("made a directory in a file")
	}
	must(t, fsys.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "z")))
	wantContent(t, fsys, filepath.Join(dir, "z", "y", "b"), "bb")
}

func testModTime(t *testing.T, fsys FS, dir string) {
	name, at := filepath.Join(dir, "a"), time.UnixMilli(1_600_000_000_000)
	write(t, create(t, fsys, name), 0, "old news")
	must(t, fsys.SetModTime(name, at))
	info, err := fsys.Stat(name)
	must(t, err)
	if !info.ModTime().Equal(at) {
		t.Errorf("modified at %v, want %v", info.ModTime(), at)
	}
	wantContent(t, fsys, name, "old news")
}

func testLock(t *testing.T, fsys FS, dir string) {
	name := filepath.Join(dir, "seglog.lock")
	for range 2 { // a released lock can be taken again
		lock, err := fsys.Lock(name)
		must(t, err)
		_, err = fsys.Lock(name)
		var locked *LockedError
		if !errors.Is(err, ErrLocked) || !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.Path != name {
			t.Fatalf("second Lock = %#v", err)
		}
		wantContent(t, fsys, name, strconv.Itoa(os.Getpid())+"\n")
		must(t, lock.Close())
	}
}

func testBoot(t *testing.T, fsys FS, dir string) {
	if a, b := fsys.Boot(dir), fsys.Boot(dir); a != b || strings.ContainsAny(a, " \n") {
		t.Errorf("%q, then %q", a, b)
	}
}

// TestBoot: what Boot says changes with a loss of power, not with the end of a
// process, and is another one for a copy.
func TestBoot(t *testing.T) {
	m := NewMem()
	before := m.Boot("/")
	if k := m.Kill(); k.Boot("/") != before {
		t.Error("Kill changed it")
	}
	seen := map[string]bool{before: true}
	for name, other := range map[string]*Mem{"Crash": m.Crash(1), "Reboot": m.Reboot().Reboot(), "NewMem": NewMem()} {
		if b := other.Boot("/"); b == "" || seen[b] {
			t.Errorf("%s: %q again", name, b)
		} else {
			seen[b] = true
		}
	}
	a, b := OS.Boot(t.TempDir()), OS.Boot(t.TempDir())
	if a == b && a != "" {
		t.Errorf("two directories have the same: %q", a)
	}
	if _, err := os.Stat("/proc/sys/kernel/random/boot_id"); err == nil && a == "" {
		t.Error("it is not known")
	}
}
