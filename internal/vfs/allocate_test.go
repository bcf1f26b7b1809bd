package vfs

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestWriteZeros is the way of hosts without fallocate.
func TestWriteZeros(t *testing.T) {
	f := create(t, OS, filepath.Join(t.TempDir(), "a"))
	write(t, f, 0, "kept")
	const end = 3*int64(len(zeros)) + 5
	must(t, writeZeros(f, 4, end))
	wantSize(t, f, end)
	if got := content(t, OS, f.Name()); string(got[:4]) != "kept" || !bytes.Equal(got[4:], make([]byte, end-4)) {
		t.Error("not zeros behind what was there")
	}
	must(t, writeZeros(f, end, 10))
	wantSize(t, f, end)
}
