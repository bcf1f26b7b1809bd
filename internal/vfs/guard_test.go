package vfs

import (
	"errors"
	"hash/crc32"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// TestPitfallP1GuardedFault cuts a real file under its mapping. Without a
// Guard each of these ends the process.
func TestPitfallP1GuardedFault(t *testing.T) {
	// Relies on A9, A10 (docs/ASSUMPTIONS.md).
	if !posixFiles {
		t.Skip("a mapped file cannot be cut on this host")
	}
	f := create(t, OS, filepath.Join(t.TempDir(), "a"))
	const length, kept = 1 << 20, 64 << 10
	must(t, f.Allocate(0, length))
	b := mapFile(t, f, length, true)
	must(t, f.Truncate(kept))

	buf := make([]byte, length)
	sum := uint32(0)
	for name, touch := range map[string]func(){
		"copy out": func() { copy(buf, b) },
		"copy in":  func() { copy(b, buf) },
		"checksum": func() { sum += crc32.Update(0, crc32.MakeTable(crc32.Castagnoli), b) },
		"load":     func() { sum += uint32(b[kept]) },
		"store":    func() { b[kept] = 1 },
		"clear":    func() { clear(b) },
	} {
		t.Run(name, func(t *testing.T) {
			err := guarded(touch)
			var fault *FaultError
			if !errors.Is(err, ErrFault) || !errors.As(err, &fault) {
				t.Fatalf("err = %v, want ErrFault", err)
			}
			if at, ok := fault.Position(b); !ok || at < kept {
				t.Errorf("fault at %d, %t; want it past %d", at, ok, kept)
			}
			if _, ok := fault.Position(buf); ok {
				t.Error("fault found in memory that is not mapped")
			}
		})
	}
	if err := guarded(func() { sum += uint32(b[kept-1]) }); err != nil {
		t.Errorf("a byte that is still there: %v", err)
	}
}

func TestGuardLeavesTheRestAlone(t *testing.T) {
	cause := errors.New("cause")
	if err := func() (err error) {
		defer Unguard(Guard(), &err)
		return cause
	}(); err != cause {
		t.Errorf("err = %v, want the function's own", err)
	}
	for name, f := range map[string]func(){
		"panic": func() { panic(cause) },
		"index": func() { _ = []byte{}[len(t.Name())] },
		"nil":   func() { t.Log(*(*byte)(nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
				if debug.SetPanicOnFault(false) {
					t.Error("the setting was not restored")
				}
			}()
			err := guarded(f)
			t.Errorf("became an error: %v", err)
		})
	}
}

func TestGuardNests(t *testing.T) {
	_ = func() (err error) {
		defer Unguard(Guard(), &err)
		if err := guarded(func() {}); err != nil {
			t.Error(err)
		}
		if !debug.SetPanicOnFault(true) {
			t.Error("the inner guard ended the outer one")
		}
		return nil
	}()
	if debug.SetPanicOnFault(false) {
		t.Error("the guards left their setting")
	}
	if s := (&FaultError{Addr: 0x1000}).Error(); !strings.Contains(s, "0x1000") {
		t.Error(s)
	}
}

func TestGuardAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { _ = guardedLoad(one) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func guarded(f func()) (err error) {
	defer Unguard(Guard(), &err)
	f()
	return nil
}

var one = []byte{1}

//go:noinline
func guardedLoad(b []byte) (err error) {
	defer Unguard(Guard(), &err)
	if b[0] == 0 {
		return ErrFault
	}
	return nil
}

//go:noinline
func plainLoad(b []byte) error {
	if b[0] == 0 {
		return ErrFault
	}
	return nil
}

func BenchmarkGuard(b *testing.B) {
	b.Run("with", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = guardedLoad(one)
		}
	})
	b.Run("without", func(b *testing.B) {
		for b.Loop() {
			_ = plainLoad(one)
		}
	})
}
