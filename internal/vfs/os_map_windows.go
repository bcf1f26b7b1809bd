package vfs

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// mapSource is the file to map: a duplicate of f, since mmap-go flushes through
// the handle it mapped, and f may be closed by then.
func mapSource(f *os.File) (*os.File, io.Closer, error) {
	self := windows.CurrentProcess()
	var dup windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &dup, 0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, nil, err
	}
	source := os.NewFile(uintptr(dup), f.Name())
	return source, source, nil
}

// CutsMapped says that a file may be cut while it is mapped: not here. What is
// left of a segment's capacity is cut when the log is opened the next time.
const CutsMapped = false
