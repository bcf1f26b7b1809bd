package vfs

import "testing"

// TestPitfallF4NamesNeedSyncDir: a synced file without a synced directory may
// be gone.
func TestPitfallF4NamesNeedSyncDir(t *testing.T) {
	// Relies on A6 (docs/ASSUMPTIONS.md).
	m := NewMem()
	f := create(t, m, "a")
	write(t, f, 0, "x")
	must(t, f.Sync())
	wantOnly(t, outcomes(m.Kill(), func(w *Mem) string { return names(t, w) }), "", "a=x")
}

func TestCrashNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, m *Mem)
		want   []string
	}{
		{"remove", func(t *testing.T, m *Mem) {
			must(t, m.Remove("a"))
		}, []string{"", "a=A"}},
		{"removal made durable", func(t *testing.T, m *Mem) {
			must(t, m.Remove("a"))
			must(t, m.SyncDir("/"))
		}, []string{""}},
		{"rename", func(t *testing.T, m *Mem) {
			must(t, m.Rename("a", "b"))
		}, []string{"a=A", "b=A"}},
		{"rename twice", func(t *testing.T, m *Mem) {
			must(t, m.Rename("a", "b"))
			must(t, m.Rename("b", "c"))
		}, []string{"a=A", "b=A", "c=A"}},
		{"rename and back", func(t *testing.T, m *Mem) {
			must(t, m.Rename("a", "b"))
			must(t, m.Rename("b", "a"))
		}, []string{"a=A", "b=A"}},
		{"replace", func(t *testing.T, m *Mem) {
			must(t, unsyncedFile(t, m, "t", "B").Sync())
			must(t, m.Rename("t", "a"))
		}, []string{"a=A", "a=A t=B", "a=B"}},
		{"replace unsynced", func(t *testing.T, m *Mem) {
			unsyncedFile(t, m, "t", "B")
			must(t, m.Rename("t", "a"))
		}, []string{"a=A", "a=A t=", "a=A t=B", "a=", "a=B"}},
		{"WriteFile", func(t *testing.T, m *Mem) {
			must(t, WriteFile(m, "a", []byte("B")))
		}, []string{"a=B"}},
		{"independent", func(t *testing.T, m *Mem) {
			must(t, unsyncedFile(t, m, "b", "B").Sync())
			must(t, m.Remove("a"))
		}, []string{"", "a=A", "b=B", "a=A b=B"}},
		{"remove and create again", func(t *testing.T, m *Mem) {
			must(t, m.Remove("a"))
			must(t, unsyncedFile(t, m, "a", "B").Sync())
		}, []string{"", "a=A", "a=B"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMem()
			durableFile(t, m, "a", "A")
			c.change(t, m)
			wantOnly(t, outcomes(m, func(w *Mem) string { return names(t, w) }), c.want...)
		})
	}
}

// unsyncedFile is a new file with content, neither synced.
func unsyncedFile(t *testing.T, m *Mem, name, content string) File {
	t.Helper()
	f := create(t, m, name)
	write(t, f, 0, content)
	return f
}

// TestSyncDirHoldsAcrossDirectories: what led to a durable name cannot undo it.
func TestSyncDirHoldsAcrossDirectories(t *testing.T) {
	m := NewMem()
	for _, dir := range []string{"1", "2", "3"} {
		must(t, MkdirAll(m, dir, 0o755))
	}
	must(t, unsyncedFile(t, m, "1/a", "A").Sync())
	must(t, m.Rename("1/a", "2/a"))
	must(t, m.Rename("2/a", "3/a"))
	must(t, m.SyncDir("3"))
	wantOnly(t, outcomes(m, func(w *Mem) string {
		where := ""
		for _, dir := range []string{"1", "2", "3"} {
			if _, err := w.Stat(dir + "/a"); err == nil {
				where += dir
			}
		}
		return where
	}), "3")
}
