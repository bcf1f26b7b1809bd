package disk

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const sectors = 64

func open(t *testing.T) *Disk {
	t.Helper()
	name := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(name, make([]byte, sectors*SectorSize), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func sector(b byte) []byte { return bytes.Repeat([]byte{b}, SectorSize) }

func write(t *testing.T, d *Disk, n int64, b byte, through bool) {
	t.Helper()
	if err := d.Write(sector(b), n*SectorSize, through); err != nil {
		t.Fatal(err)
	}
}

// read is the first byte of a sector, all of which are the same.
func read(t *testing.T, d *Disk, n int64) byte {
	t.Helper()
	p := make([]byte, SectorSize)
	if _, err := d.ReadAt(p, n*SectorSize); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(p, sector(p[0])) {
		t.Fatalf("sector %d is torn", n)
	}
	return p[0]
}

// TestCut: what was flushed, or written through, is there after every cut; of
// the rest each sector is as one of the writes left it, and over many cuts each
// of them comes about.
func TestCut(t *testing.T) {
	seen := make(map[[3]byte]int)
	for seed := range uint64(400) {
		d := open(t)
		write(t, d, 0, 1, false)
		write(t, d, 1, 1, false)
		d.Flush()
		write(t, d, 0, 2, true) // newer than what is flushed
		write(t, d, 1, 2, false)
		write(t, d, 1, 3, false)
		write(t, d, 2, 2, false)
		write(t, d, 3, 2, false)
		write(t, d, 3, 3, true) // over what is cached
		if got := read(t, d, 1); got != 3 {
			t.Fatalf("before the cut sector 1 has %d", got)
		}
		if n := d.Cached(); n != 2 {
			t.Fatalf("%d sectors are cached, want 2", n)
		}
		d.Cut(rand.New(rand.NewPCG(seed, 0)))
		if n := d.Cached(); n != 0 {
			t.Fatalf("%d sectors are cached after a cut", n)
		}
		if a, b := read(t, d, 0), read(t, d, 3); a != 2 || b != 3 {
			t.Fatalf("seed %d: what was written through has become %d and %d", seed, a, b)
		}
		seen[[3]byte{read(t, d, 1), read(t, d, 2)}]++
	}
	for _, one := range []byte{1, 2, 3} {
		for _, two := range []byte{0, 2} {
			if seen[[3]byte{one, two}] == 0 {
				t.Errorf("no cut left %d and %d: %v", one, two, seen)
			}
			delete(seen, [3]byte{one, two})
		}
	}
	if len(seen) > 0 {
		t.Errorf("cuts left what nobody wrote: %v", seen)
	}
}

// TestUnit: what is written whole or not at all is not torn, and larger writes
// are.
func TestUnit(t *testing.T) {
	torn := 0
	for seed := range uint64(100) {
		d := open(t)
		d.Unit = 4 * SectorSize
		if err := d.Write(bytes.Repeat([]byte{5}, 8*SectorSize), 4*SectorSize, false); err != nil {
			t.Fatal(err)
		}
		d.Cut(rand.New(rand.NewPCG(seed, 0)))
		for _, n := range []int64{5, 6, 7} {
			if a, b := read(t, d, n), read(t, d, 4); a != b {
				t.Fatalf("seed %d: sector %d has %d, sector 4 of the same unit %d", seed, n, a, b)
			}
		}
		if read(t, d, 4) != read(t, d, 8) {
			torn++
		}
	}
	if torn == 0 {
		t.Error("no write of two units was torn")
	}
}

func TestIgnoreFlush(t *testing.T) {
	// Breaks A3 (docs/ASSUMPTIONS.md): power cuts find that the engine relies on it.
	d := open(t)
	d.IgnoreFlush = true
	write(t, d, 0, 1, true)
	d.Flush()
	if n := d.Cached(); n != 1 {
		t.Errorf("%d sectors are cached, want 1", n)
	}
}

// TestBreak: a bad range fails, and only that.
func TestBreak(t *testing.T) {
	d := open(t)
	write(t, d, 5, 7, false)
	found := d.Find(func(s []byte) bool { return s[0] == 7 })
	if !slices.Equal(found, []int64{5 * SectorSize}) {
		t.Fatalf("Find = %d", found)
	}
	d.Break(found[0], found[0]+SectorSize)
	p := make([]byte, 3*SectorSize)
	if _, err := d.ReadAt(p, 4*SectorSize); err != ErrBad {
		t.Errorf("reading across it: %v", err)
	}
	if err := d.Write(p[:SectorSize], 5*SectorSize, false); err != ErrBad {
		t.Errorf("writing it: %v", err)
	}
	for _, n := range []int64{4, 6} {
		write(t, d, n, 1, false)
		if got := read(t, d, n); got != 1 {
			t.Errorf("sector %d has %d", n, got)
		}
	}
	if s := d.Stats(); s.BadReads != 1 || s.BadWrites != 1 {
		t.Errorf("%+v", s)
	}
	if at := d.Find(func(s []byte) bool { return s[0] == 9 }); len(at) > 0 {
		t.Errorf("Find of what is not there = %d", at)
	}
}

// TestFailWrites: so many writes fail, whole, and no more.
func TestFailWrites(t *testing.T) {
	d := open(t)
	write(t, d, 1, 1, false)
	d.FailWrites(2)
	for range 2 {
		if err := d.Write(make([]byte, SectorSize), SectorSize, true); err != ErrBad {
			t.Errorf("a write that is to fail: %v", err)
		}
	}
	if got := read(t, d, 1); got != 1 {
		t.Errorf("the sector has %d of a write that failed", got)
	}
	write(t, d, 1, 2, false)
	if got := read(t, d, 1); got != 2 {
		t.Errorf("the sector has %d", got)
	}
}

func TestRange(t *testing.T) {
	d := open(t)
	for _, c := range []struct{ at, n int64 }{{1, 512}, {0, 100}, {-512, 512}, {d.Size(), 512}, {d.Size() - 512, 1024}} {
		p := make([]byte, c.n)
		if _, err := d.ReadAt(p, c.at); err == nil {
			t.Errorf("ReadAt(%d bytes, %d) works", c.n, c.at)
		}
		if err := d.Write(p, c.at, false); err == nil {
			t.Errorf("Write(%d bytes, %d) works", c.n, c.at)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("an image that is not there opens")
	}
	odd := filepath.Join(t.TempDir(), "odd")
	if err := os.WriteFile(odd, make([]byte, 700), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(odd); err == nil {
		t.Error("an image of 700 bytes opens")
	}
}
