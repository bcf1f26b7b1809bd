package vfs

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, fsys FS, name string) File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func mapFile(t *testing.T, f File, length int64, writable bool) []byte {
	t.Helper()
	m, err := f.Map(length, writable)
	must(t, err)
	t.Cleanup(func() { must(t, m.Unmap()) })
	return m.Bytes()
}

func write(t *testing.T, f File, off int64, s string) {
	t.Helper()
	if n, err := f.WriteAt([]byte(s), off); n != len(s) || err != nil {
		t.Fatalf("WriteAt = %d, %v", n, err)
	}
}

func wantRead(t *testing.T, f File, off int64, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := f.ReadAt(got, off); err != nil || string(got) != want {
		t.Errorf("at %d there is %q, %v; want %q", off, got, err, want)
	}
}

func wantSize(t *testing.T, f File, want int64) {
	t.Helper()
	if got, err := f.Size(); err != nil || got != want {
		t.Errorf("Size = %d, %v; want %d", got, err, want)
	}
}

func content(t *testing.T, fsys FS, name string) []byte {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	must(t, err)
	defer f.Close()
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); int64(n) != size || err != nil && err != io.EOF {
		t.Fatalf("ReadAt = %d, %v", n, err)
	}
	return b
}

func wantContent(t *testing.T, fsys FS, name, want string) {
	t.Helper()
	if got := content(t, fsys, name); !bytes.Equal(got, []byte(want)) {
		t.Errorf("%s has %q, want %q", name, got, want)
	}
}
