package compact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/internal/vfs"
)

// marksName, as keyFileName, ends so that recovery removes it.
const marksName = "seglog.marks" + vfs.TempSuffix

// marks is a bit for each record, by its ordinal, in the memory of a file: so
// many records as a log may have are no bound of the heap. A record that is
// marked has a later one of its key.
type marks struct {
	fs   vfs.FS
	name string
	mem  vfs.Mapping
	bits []byte
}

func newMarks(fs vfs.FS, dir string, records int64) (*marks, error) {
	m := &marks{fs: fs, name: filepath.Join(dir, marksName)}
	size := records/8 + 1
	f, err := fs.OpenFile(m.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTemporary, err)
	}
	err = f.Allocate(0, size) // or touching it could fault
	if err == nil {
		m.mem, err = f.Map(size, true)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errTemporary, err), m.remove())
	}
	m.bits = m.mem.Bytes()
	return m, nil
}

// mark marks a record. The caller guards the memory, as that of has.
func (m *marks) mark(ordinal int64) { m.bits[ordinal/8] |= 1 << (ordinal % 8) }

func (m *marks) has(ordinal int64) bool { return m.bits[ordinal/8]&(1<<(ordinal%8)) != 0 }

// remove ends the use of the file.
func (m *marks) remove() error {
	var errs []error
	if m.mem != nil {
		errs = append(errs, m.mem.Unmap())
	}
	return errors.Join(append(errs, m.fs.Remove(m.name))...)
}
