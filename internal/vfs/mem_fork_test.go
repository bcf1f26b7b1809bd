package vfs

import (
	"errors"
	"testing"
)

// TestFork: a copy is what was there, durable or not, and lives its own life.
func TestFork(t *testing.T) {
	m := NewMem()
	f := create(t, m, "a")
	write(t, f, 0, "synced")
	must(t, f.Sync())
	must(t, m.SyncDir("/"))
	write(t, f, 0, "later ")
	lock, err := m.Lock("lock")
	must(t, err)

	fork := m.Fork()
	wantContent(t, fork, "a", "later ")
	other, err := fork.Lock("lock")
	must(t, err)
	must(t, other.Close())
	write(t, create(t, fork, "a"), 0, "other ")
	wantContent(t, m, "a", "later ")
	write(t, f, 0, "third ")
	wantContent(t, fork, "a", "other ")
	must(t, lock.Close())
	for seed := range uint64(20) { // what was synced is synced in the copy
		if got := string(content(t, m.Fork().Crash(seed), "a")); got != "synced" && got != "third " {
			t.Errorf("seed %d: %q", seed, got)
		}
	}
}

// TestDropDirty: dropped pages read as what the device has, and the length stays.
func TestDropDirty(t *testing.T) {
	m := NewMem()
	f := create(t, m, "a")
	write(t, f, 0, string(make([]byte, 1000)))
	write(t, f, 0, "synced")
	must(t, f.Sync())
	write(t, f, 0, "later ")
	write(t, f, 1000, "more")
	write(t, f, 4000, "end")
	must(t, m.DropDirty("a", 0))
	wantSize(t, f, 4003)
	wantContent(t, m, "a", "synced"+string(make([]byte, 4003-6)))

	seen := map[string]bool{}
	for seed := uint64(1); seed < 60; seed++ {
		fork := m.Fork()
		g := create(t, fork, "a")
		write(t, g, 0, "later ")
		write(t, g, 4000, "end")
		must(t, fork.DropDirty("a", seed))
		all := string(content(t, fork, "a"))
		seen[all[:6]+" "+all[4000:]] = true
	}
	if len(seen) != 4 {
		t.Errorf("of two sectors there was left %v, want all four choices", seen)
	}
	mapFile(t, f, 4096, false)
	if err := m.DropDirty("a", 0); !errors.Is(err, ErrSharing) {
		t.Errorf("under a mapping: %v", err)
	}
}
