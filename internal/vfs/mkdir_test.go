package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func testMkdir(t *testing.T, fsys FS, dir string) {
	sub := filepath.Join(dir, "x")
	must(t, fsys.Mkdir(sub, 0o755))
	write(t, create(t, fsys, filepath.Join(dir, "file")), 0, "x")
	for name, want := range map[string]error{"x": fs.ErrExist, "file": fs.ErrExist, "y/z": fs.ErrNotExist} {
		if err := fsys.Mkdir(filepath.Join(dir, name), 0o755); !errors.Is(err, want) {
			t.Errorf("Mkdir of %s = %v, want %v", name, err, want)
		}
	}
}

// TestMkdirNeedsSyncDir: a directory that was made may be gone, with all that was
// synced in it, until its parent was synced.
func TestMkdirNeedsSyncDir(t *testing.T) {
	// Relies on A6 (docs/ASSUMPTIONS.md).
	m := NewMem()
	must(t, m.Mkdir("d", 0o755))
	f := create(t, m, "d/a")
	write(t, f, 0, "x")
	must(t, errors.Join(f.Sync(), m.SyncDir("d")))
	look := func(w *Mem) string {
		if _, err := w.Stat("d"); err != nil {
			return "nothing"
		}
		return string(content(t, w, "d/a"))
	}
	wantOnly(t, outcomes(m.Kill(), look), "nothing", "x")
	m = m.Kill()
	must(t, m.SyncDir("."))
	wantOnly(t, outcomes(m, look), "x")
}

// TestMkdirAllAfterAKill: killed at any of its calls and begun again, it has made
// all names durable, those that were there as well.
func TestMkdirAllAfterAKill(t *testing.T) {
	// Relies on A6 (docs/ASSUMPTIONS.md).
	for calls := 0; ; calls++ {
		m := NewMem()
		f := NewFaulty(m)
		f.Add(Rule{After: calls, Err: os.ErrDeadlineExceeded})
		stopped := MkdirAll(f, "a/b/c", 0o755)
		m = m.Kill()
		must(t, MkdirAll(m, "a/b/c/d", 0o755))
		wantOnly(t, outcomes(m, func(w *Mem) string {
			info, err := w.Stat("a/b/c/d")
			must(t, err)
			return info.Name()
		}), "d")
		if stopped == nil {
			return
		}
	}
}
