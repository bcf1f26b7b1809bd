package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

const crashSeeds = 1000

// outcomes counts what look finds in a thousand crashes of one world.
func outcomes(m *Mem, look func(w *Mem) string) map[string]int {
	seen := map[string]int{}
	for seed := range uint64(crashSeeds) {
		seen[look(m.Crash(seed))]++
	}
	return seen
}

// wantOnly checks that exactly these outcomes are seen.
func wantOnly(t *testing.T, seen map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if seen[w] == 0 {
			t.Errorf("never seen: %s", w)
		}
		delete(seen, w)
	}
	for s, n := range seen {
		t.Errorf("seen %d times: %s", n, s)
	}
}

// names lists the root as "a=content b=content".
func names(t *testing.T, w *Mem) string {
	t.Helper()
	entries, err := w.ReadDir("/")
	must(t, err)
	var s []string
	for _, e := range entries {
		s = append(s, e.Name()+"="+strings.TrimRight(string(content(t, w, e.Name())), "\x00"))
	}
	return strings.Join(s, " ")
}

func durableFile(t *testing.T, m *Mem, name, content string) File {
	t.Helper()
	f := create(t, m, name)
	write(t, f, 0, content)
	must(t, f.Sync())
	must(t, m.SyncDir("/"))
	return f
}

func TestCrashKeepsWhatWasSynced(t *testing.T) {
	m := NewMem()
	f := durableFile(t, m, "a", strings.Repeat("s", 10_000))
	b := mapFile(t, f, 64<<10, true)
	must(t, f.Allocate(10_000, 64<<10))
	for i := range b[10_000:] { // stored through the mapping, never synced
		b[10_000+i] = 'u'
	}
	survived, lengths := map[int]int{}, map[int]int{}
	for seed := range uint64(crashSeeds) {
		got := content(t, m.Crash(seed), "a")
		if len(got) < 10_000 || string(got[:10_000]) != strings.Repeat("s", 10_000) {
			t.Fatalf("seed %d: synced bytes are gone", seed)
		}
		lengths[len(got)]++
		n := 0
		for s := 10_240; s+sectorSize <= len(got); s += sectorSize {
			sector := got[s : s+sectorSize]
			switch {
			case bytes.Count(sector, []byte{'u'}) == sectorSize:
				n++
			case !isZero(sector):
				t.Fatalf("seed %d: the sector at %d is torn", seed, s)
			}
		}
		survived[n]++
	}
	const all = (64<<10 - 10_240) / sectorSize
	if survived[0] == 0 || survived[all] == 0 || len(survived) < all/2 {
		t.Errorf("of %d unsynced sectors there survived (how many: how often) %v", all, survived)
	}
	if lengths[10_000] == 0 || lengths[64<<10] == 0 || len(lengths) < 10 {
		t.Errorf("lengths %v", lengths)
	}
}

// TestCrashIgnoresOrder: a later sector may be there without an earlier one
// (pitfall T11).
func TestCrashIgnoresOrder(t *testing.T) {
	m := NewMem()
	f := durableFile(t, m, "a", strings.Repeat("-", 2*sectorSize))
	write(t, f, 0, "1")
	write(t, f, sectorSize, "2")
	wantOnly(t, outcomes(m, func(w *Mem) string {
		got := content(t, w, "a")
		return string(got[0]) + string(got[sectorSize])
	}), "--", "1-", "-2", "12")
}

func TestCrashTruncate(t *testing.T) {
	m := NewMem()
	f := durableFile(t, m, "a", "0123456789")
	must(t, f.Truncate(4))
	seen := func() map[string]int { return outcomes(m, func(w *Mem) string { return string(content(t, w, "a")) }) }
	m = m.Kill()
	wantOnly(t, seen(), "0123", "0123456789")

	m = NewMem()
	f = durableFile(t, m, "a", "0123456789")
	must(t, f.Truncate(4))
	must(t, f.Sync())
	must(t, f.Truncate(10))
	must(t, f.Sync())
	wantOnly(t, seen(), "0123\x00\x00\x00\x00\x00\x00")
}

// TestWriteback: a version that is neither the synced nor the last one can be
// what survives, and what was written back is never lost.
func TestWriteback(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(crashSeeds) {
		m := NewMem()
		f := durableFile(t, m, "a", "1")
		write(t, f, 0, "2")
		must(t, m.Rename("a", "b"))
		m.Writeback(seed)
		write(t, f, 0, "3")
		must(t, m.Rename("b", "c"))
		seen[names(t, m.Crash(seed))]++
	}
	var want []string
	for _, name := range []string{"a", "b", "c"} {
		for _, content := range []string{"1", "2", "3"} {
			want = append(want, name+"="+content)
		}
	}
	wantOnly(t, seen, want...)
}

func TestWritebackLosesNothingSynced(t *testing.T) {
	for seed := range uint64(crashSeeds) {
		m := NewMem()
		f := durableFile(t, m, "a", strings.Repeat("s", 5000))
		write(t, f, 5000, strings.Repeat("u", 5000))
		m.Writeback(seed)
		must(t, f.Truncate(7000))
		m.Writeback(seed + 1)
		if got := content(t, m.Crash(seed), "a"); len(got) < 5000 || string(got[:5000]) != strings.Repeat("s", 5000) {
			t.Fatalf("seed %d: synced bytes are gone", seed)
		}
	}
}

// TestWrittenBackCutIsFinal: once a cut is durable, the bytes it cut do not
// come back with a longer file.
func TestWrittenBackCutIsFinal(t *testing.T) {
	cut := func(seed uint64) (*Mem, File) {
		m := NewMem()
		f := durableFile(t, m, "a", "0123456789")
		must(t, f.Truncate(4))
		m.Writeback(seed)
		return m, f
	}
	final := 0
	for seed := range uint64(20) {
		m, _ := cut(seed)
		seen := outcomes(m, func(w *Mem) string { return string(content(t, w, "a")) })
		if len(seen) > 1 {
			continue // the cut was not written back
		}
		final++
		m, f := cut(seed)
		must(t, f.Truncate(10))
		for s := range outcomes(m, func(w *Mem) string { return string(content(t, w, "a")) }) {
			if strings.Trim(s, "\x00") != "0123" {
				t.Fatalf("seed %d: cut bytes are back: %q", seed, s)
			}
		}
	}
	if final == 0 {
		t.Error("no cut was ever written back")
	}
}

func TestKill(t *testing.T) {
	m := NewMem()
	f := unsyncedFile(t, m, "a", "unsynced")
	b := mapFile(t, f, 4096, true)
	copy(b, "UN")
	_, err := m.Lock("lock")
	must(t, err)
	w := m.Kill()
	wantContent(t, w, "a", "UNsynced")
	lock, err := w.Lock("lock")
	must(t, err)
	must(t, lock.Close())

	// The machine may still lose power, and what the process did is as
	// undurable as before.
	seen := outcomes(w, func(w *Mem) string { return fmt.Sprint(names(t, w) == "") })
	wantOnly(t, seen, "true", "false")
}

// TestDeadWorldChangesNothing: a process that goes on after the crash reaches
// neither the new world nor another image of the old one.
func TestDeadWorldChangesNothing(t *testing.T) {
	m := NewMem()
	f := durableFile(t, m, "a", "synced")
	b := mapFile(t, f, 4096, true)
	w := m.Crash(1)
	copy(b, "stale!")
	wantContent(t, w, "a", "synced")
	wantContent(t, m.Crash(1), "a", "synced")
	wantContent(t, m.Kill(), "a", "synced")

	_, openErr := m.OpenFile("a", os.O_RDONLY, 0)
	_, statErr := m.Stat("a")
	_, readDirErr := m.ReadDir("/")
	_, lockErr := m.Lock("l")
	_, writeErr := f.WriteAt([]byte("stale!"), 0)
	_, mapErr := f.Map(10, false)
	for op, err := range map[string]error{
		"open": openErr, "stat": statErr, "readdir": readDirErr, "lock": lockErr, "write": writeErr, "map": mapErr,
		"sync": f.Sync(), "allocate": f.Allocate(0, 1), "truncate": f.Truncate(0), "remove": m.Remove("a"),
		"rename": m.Rename("a", "b"), "syncdir": m.SyncDir("/"), "mkdir": MkdirAll(m, "d", 0o755), "close": f.Close(),
	} {
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("%s after the crash: %v", op, err)
		}
	}
}

func TestCrashRepeatsFromItsSeed(t *testing.T) {
	world := func() *Mem {
		m := NewMem()
		must(t, MkdirAll(m, "d/e", 0o755))
		for i := range 20 {
			name := fmt.Sprintf("%d", i)
			f := unsyncedFile(t, m, name, strings.Repeat(name, 3000))
			if i%3 == 0 {
				must(t, f.Sync())
			}
			if i%5 == 0 {
				must(t, m.Rename(name, "x"+name))
			}
		}
		m.Remove("d/e")
		m.Writeback(7)
		return m
	}
	a, b := world(), world()
	differ := false
	for seed := range uint64(20) {
		first := everythingIn(t, a.Crash(seed))
		if first != everythingIn(t, b.Crash(seed)) || first != everythingIn(t, a.Crash(seed)) {
			t.Fatalf("seed %d gives two results", seed)
		}
		differ = differ || first != everythingIn(t, a.Crash(seed+1))
	}
	if !differ {
		t.Error("all seeds give one result")
	}
}

// everythingIn is all there is in the root, directories left out.
func everythingIn(t *testing.T, w *Mem) string {
	t.Helper()
	entries, err := w.ReadDir("/")
	must(t, err)
	s := ""
	for _, e := range entries {
		if s += e.Name() + "="; !e.IsDir() {
			s += string(content(t, w, e.Name())) + " "
		}
	}
	return s
}
