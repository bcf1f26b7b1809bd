package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// everything makes at least one call of each operation and stops at no error.
func everything(t *testing.T, fsys FS) (failed []error) {
	t.Helper()
	note := func(err error) bool {
		if err != nil {
			failed = append(failed, err)
		}
		return err == nil
	}
	note(fsys.Mkdir("/d", 0o755))
	f, err := fsys.OpenFile("/d/a.log", os.O_RDWR|os.O_CREATE, 0o644)
	if note(err) {
		_, err = f.WriteAt([]byte("0123456789"), 0)
		note(err)
		_, err = f.ReadAt(make([]byte, 5), 0)
		note(err)
		note(f.Allocate(10, 20))
		_, err = f.Size()
		note(err)
		note(f.Truncate(10))
		if m, err := f.Map(10, true); note(err) {
			note(m.Unmap())
		}
		note(f.Sync())
		note(f.Close())
	}
	if f, err := fsys.OpenFile("/d/a.log", os.O_RDONLY, 0); note(err) {
		_ = f.Close()
	}
	_, err = fsys.Stat("/d/a.log")
	note(err)
	note(fsys.SetModTime("/d/a.log", time.Now()))
	_, err = fsys.ReadDir("/d")
	note(err)
	note(fsys.Rename("/d/a.log", "/d/b.log"))
	note(fsys.SyncDir("/d"))
	note(fsys.Remove("/d/b.log"))
	if lock, err := fsys.Lock("/d/lock"); note(err) {
		note(lock.Close())
	}
	return failed
}

func TestFaultyFailsEachOperation(t *testing.T) {
	if failed := everything(t, NewFaulty(NewMem())); failed != nil {
		t.Fatalf("without rules: %v", failed)
	}
	for _, op := range AnyOp.Ops() {
		t.Run(op.String(), func(t *testing.T) {
			f := NewFaulty(NewMem())
			rule := f.Add(Rule{Op: op, Count: 1, Err: syscall.EIO})
			failed := everything(t, f)
			if len(failed) == 0 || !errors.Is(failed[0], syscall.EIO) || rule.Failed() != 1 {
				t.Fatalf("failed %d calls: %v", rule.Failed(), failed)
			}
			if s := failed[0].Error(); !strings.HasPrefix(s, op.String()) || !strings.Contains(s, "/d") {
				t.Errorf("the error does not say where: %s", s)
			}
			if got := f.Calls(op); got != rule.Matched() || got == 0 {
				t.Errorf("Calls = %d, the rule matched %d", got, rule.Matched())
			}
		})
	}
}

func TestRuleCounts(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string // of five stats of a.log, five of b.index; x fails
	}{
		{Rule{}, ".........."},
		{Rule{Err: fs.ErrInvalid}, "xxxxxxxxxx"},
		{Rule{Err: fs.ErrInvalid, After: 2, Count: 3}, "..xxx....."},
		{Rule{Err: fs.ErrInvalid, Path: "*.index", After: 1}, "......xxxx"},
		{Rule{Err: fs.ErrInvalid, Path: "a.*", Op: OpStat | OpSync}, "xxxxx....."},
		{Rule{Err: fs.ErrInvalid, Op: AnyOp &^ OpStat}, ".........."},
	} {
		m := NewMem()
		create(t, m, "a.log")
		create(t, m, "b.index")
		f := NewFaulty(m)
		f.Add(c.rule)
		got := ""
		for _, name := range []string{"/a.log", "/b.index"} {
			for range 5 {
				if _, err := f.Stat(name); err != nil {
					got += "x"
				} else {
					got += "."
				}
			}
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.rule, got, c.want)
		}
		f.Clear()
		if _, err := f.Stat("a.log"); err != nil {
			t.Errorf("after Clear: %v", err)
		}
	}
}

func TestFaultyShort(t *testing.T) {
	m := NewMem()
	f := NewFaulty(m)
	file := create(t, f, "a")
	f.Add(Rule{Op: OpReadAt | OpWriteAt, Err: syscall.EIO, Short: 3})
	if n, err := file.WriteAt([]byte("12345"), 0); n != 3 || !errors.Is(err, syscall.EIO) {
		t.Errorf("WriteAt = %d, %v", n, err)
	}
	wantContent(t, m, "a", "123")
	if n, err := file.ReadAt(make([]byte, 2), 0); n != 2 || !errors.Is(err, syscall.EIO) {
		t.Errorf("ReadAt = %d, %v", n, err)
	}
}

// TestFaultyEndOfFile: a file that ends early answers io.EOF as os.File does.
func TestFaultyEndOfFile(t *testing.T) {
	f := NewFaulty(NewMem())
	file := create(t, f, "a")
	write(t, file, 0, "12345")
	f.Add(Rule{Op: OpReadAt, Err: io.EOF, Short: 2})
	p := make([]byte, 5)
	if n, err := file.ReadAt(p, 0); n != 2 || err != io.EOF || string(p[:2]) != "12" {
		t.Errorf("ReadAt = %d, %v, %q", n, err, p)
	}
}

// TestInUse: what is open, mapped or locked is listed until it is given back, by
// a call that fails, too.
func TestInUse(t *testing.T) {
	f := NewFaulty(NewMem())
	file, err := f.OpenFile("a", os.O_RDWR|os.O_CREATE, 0o644)
	must(t, err)
	must(t, file.Allocate(0, 100))
	m, err := file.Map(100, true)
	must(t, err)
	lock, err := f.Lock("lock")
	must(t, err)
	if got := strings.Join(f.InUse(), "; "); got != "a: opened 1 times, mapped 1, locked 0; lock: opened 0 times, mapped 0, locked 1" {
		t.Error(got)
	}
	f.Add(Rule{Op: OpClose | OpUnmap, Err: syscall.EIO})
	for _, err := range []error{file.Close(), m.Unmap(), lock.Close()} {
		if !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
	}
	if left := f.InUse(); left != nil {
		t.Errorf("left: %q", left)
	}
	again, err := f.Lock("lock")
	must(t, err)
	_ = again.Close()
}

// TestFaultyTrace crashes the machine just before the sync, from the hook.
func TestFaultyTrace(t *testing.T) {
	m := NewMem()
	f := NewFaulty(m)
	var trace []string
	var after *Mem
	f.Trace = func(c Call) {
		trace = append(trace, c.Op.String()+" "+c.Name+c.NewName)
		if c.Op == OpSync {
			after = m.Kill()
		}
	}
	file := create(t, f, "a")
	write(t, file, 0, "x")
	if err := file.Sync(); !errors.Is(err, ErrCrashed) {
		t.Errorf("sync after the crash: %v", err)
	}
	wantContent(t, after, "a", "x")
	if got := strings.Join(trace, ", "); got != "create a, write a, sync a" {
		t.Error(got)
	}
}

// TestPitfallW3WindowsSharing: what is open or mapped is neither removed nor
// renamed, on any host a test runs on.
func TestPitfallW3WindowsSharing(t *testing.T) {
	for _, below := range []FS{NewMem(), OS} {
		dir := t.TempDir()
		must(t, MkdirAll(below, dir, 0o755))
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		f := NewFaulty(below)
		f.WindowsSharing = true
		file := create(t, f, a)
		must(t, create(t, f, b).Close())
		must(t, file.Allocate(0, 100))
		wantSharing := func(state string) {
			t.Helper()
			for op, err := range map[string]error{"remove": f.Remove(a), "rename": f.Rename(a, b), "rename over": f.Rename(b, a)} {
				if !errors.Is(err, ErrSharing) {
					t.Errorf("%s of a file that is %s: %v", op, state, err)
				}
			}
		}
		wantSharing("open")
		m, err := file.Map(200, true)
		must(t, err)
		if err := file.Truncate(50); !errors.Is(err, ErrSharing) {
			t.Errorf("cut while mapped: %v", err)
		}
		must(t, file.Truncate(200))
		must(t, file.Close())
		wantSharing("mapped")
		must(t, m.Unmap())
		must(t, f.Rename(a, b))
		must(t, f.Remove(b))
	}
}
