package vfs

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/seglog/seglog/internal/invariants"
)

func TestMemLimit(t *testing.T) {
	m := NewMem()
	m.SetLimit(8 * sectorSize)
	f := create(t, m, "a")
	must(t, f.Truncate(1<<20)) // a hole takes no room
	must(t, f.Allocate(0, 6*sectorSize))
	must(t, f.Allocate(100, 5*sectorSize)) // has it already
	if m.Used() != 6*sectorSize {
		t.Errorf("Used = %d", m.Used())
	}
	g := create(t, m, "b")
	for op, err := range map[string]error{
		"allocate": g.Allocate(0, 3*sectorSize),
		"write":    func() error { _, err := g.WriteAt(make([]byte, 3*sectorSize), 0); return err }(),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s = %v, want ENOSPC", op, err)
		}
	}
	wantSize(t, g, 0)
	write(t, g, 0, "fits") // one sector
	must(t, g.Allocate(0, 2*sectorSize))
	if _, err := m.OpenFile("c", os.O_RDWR|os.O_CREATE, 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("create = %v, want ENOSPC", err)
	}

	must(t, f.Truncate(0))
	if m.Used() != 2*sectorSize {
		t.Errorf("after cutting a: Used = %d", m.Used())
	}
	must(t, m.Remove("b"))
	if m.Used() != 2*sectorSize {
		t.Errorf("b is removed but open: Used = %d", m.Used())
	}
	mapping, err := g.Map(100, false)
	must(t, err)
	must(t, g.Close())
	if m.Used() != 2*sectorSize {
		t.Errorf("b is removed but mapped: Used = %d", m.Used())
	}
	must(t, mapping.Unmap())
	if m.Used() != 0 {
		t.Errorf("b is gone: Used = %d", m.Used())
	}
}

func TestMemCountsRoomAfterACrash(t *testing.T) {
	m := NewMem()
	f := durableFile(t, m, "a", "x")
	must(t, f.Allocate(0, 4*sectorSize))
	must(t, f.Sync())
	for seed := range uint64(10) {
		if w := m.Crash(seed); w.Used() != 4*sectorSize {
			t.Fatalf("Used = %d", w.Used())
		}
	}
}

// TestMemMappedFileStaysWhereItIs: growing past what is mapped fails, with
// nothing changed, and works again after the unmap.
func TestMemMappedFileStaysWhereItIs(t *testing.T) {
	m := NewMem()
	f := create(t, m, "a")
	mapping, err := f.Map(1000, true)
	must(t, err)
	write(t, f, 0, "x")
	_, writeErr := f.WriteAt([]byte("xx"), 999)
	_, mapErr := f.Map(1001, true)
	for op, err := range map[string]error{
		"allocate": f.Allocate(0, 1001), "truncate": f.Truncate(1001), "write": writeErr, "map": mapErr,
	} {
		if err == nil {
			t.Errorf("%s past the mapping succeeded", op)
		}
	}
	wantSize(t, f, 1)
	if mapping.Bytes()[0] != 'x' {
		t.Error("the mapping lost the file")
	}
	must(t, mapping.Unmap())
	must(t, f.Allocate(0, 1001))
	wantRead(t, f, 0, "x\x00")
}

// TestPitfallP4UnmappedBytesArePoison in builds that check.
func TestPitfallP4UnmappedBytesArePoison(t *testing.T) {
	m := NewMem()
	f := create(t, m, "a")
	write(t, f, 0, "content")
	mapping, err := f.Map(7, false)
	must(t, err)
	kept := mapping.Bytes()
	must(t, mapping.Unmap())
	if invariants.Enabled && !bytes.Equal(kept, bytes.Repeat([]byte{invariants.PoisonByte}, 7)) {
		t.Errorf("bytes kept after Unmap are %q", kept)
	}
	wantRead(t, f, 0, "content")
}

func TestMemSeesStoresPastTheEnd(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("NOTHING IS CHECKED HERE: go test -tags invariants")
	}
	f := create(t, NewMem(), "a")
	b := mapFile(t, f, 1000, true)
	b[500] = 1 // a SIGBUS, were the pages real
	defer func() {
		if recover() == nil {
			t.Error("nobody noticed")
		}
	}()
	_ = f.Allocate(0, 1000)
}

// TestMemConcurrently is for the race detector: one writer stores through a
// mapping and publishes, while others read, sync, write back and crash.
func TestMemConcurrently(t *testing.T) {
	m := NewMem()
	f := create(t, m, "a")
	b := mapFile(t, f, 64<<10, true)
	var end atomic.Int64
	var wg sync.WaitGroup
	run := func(work func()) {
		wg.Go(func() {
			for end.Load() < 64<<10 {
				work()
			}
		})
	}
	for range 2 {
		run(func() {
			if n := end.Load(); !bytes.Equal(b[:n], bytes.Repeat([]byte{'x'}, int(n))) {
				t.Error("a published byte is not there")
			}
		})
	}
	run(func() { _ = f.Sync() })
	run(func() { m.Writeback(uint64(end.Load())) })
	run(func() { _, _ = m.ReadDir("/") })
	for at := int64(0); at < 64<<10; at += 1024 {
		if err := f.Allocate(at, at+1024); err != nil {
			t.Error(err)
		}
		for i := range b[at : at+1024] {
			b[at+int64(i)] = 'x'
		}
		end.Store(at + 1024)
	}
	wg.Wait()
	wantContent(t, m.Kill(), "a", string(bytes.Repeat([]byte{'x'}, 64<<10)))
}
