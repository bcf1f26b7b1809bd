//go:build unix

package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRemoved: a file is removed when the last of its names is, whichever way the
// system is asked.
func TestRemoved(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	f := create(t, OS, name)
	want := func(removed bool) {
		t.Helper()
		file := f.(*osFile).f
		for i, got := range []bool{Removed(f), Removed(&faultyFile{below: f}), nameless(file), namelessByStat(file)} {
			if got != removed {
				t.Errorf("way %d says %v, want %v", i, got, removed)
			}
		}
	}
	want(false)
	must(t, os.Link(name, name+"b"))
	must(t, os.Remove(name))
	want(false)
	must(t, os.Remove(name+"b"))
	want(true)
}
