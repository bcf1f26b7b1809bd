package compact

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/internal/vfs"
)

// keyFileName ends as files do that are of no use after a crash; recovery
// removes them.
const keyFileName = "seglog.keys" + vfs.TempSuffix

// keyFile keeps the keys of compressed batches, so that comparing one does not
// take decompressing the batch it is in. It is made with the first key, written
// in order by the first pass and read at random by the second.
//
// An entry is the length of the key as a varint, and the key.
type keyFile struct {
	fs   vfs.FS
	name string
	file vfs.File
	size int64
	buf  []byte
	mem  vfs.Mapping
}

// appendKey appends an entry.
func appendKey[K []byte | string](b []byte, key K) []byte {
	return append(binary.AppendUvarint(b, uint64(len(key))), key...)
}

const keyBuffer = 256 << 10

// add appends entries and returns where the first is.
func (k *keyFile) add(entries []byte) (place, error) {
	at := inKeys(k.size + int64(len(k.buf)))
	if len(entries) == 0 {
		return at, nil
	}
	if k.file == nil {
		f, err := k.fs.OpenFile(k.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return 0, err
		}
		k.file = f
	}
	k.buf = append(k.buf, entries...)
	if len(k.buf) >= keyBuffer {
		return at, k.flush()
	}
	return at, nil
}

func (k *keyFile) flush() error {
	if len(k.buf) == 0 {
		return nil
	}
	_, err := k.file.WriteAt(k.buf, k.size)
	k.size, k.buf = k.size+int64(len(k.buf)), k.buf[:0]
	return err
}

// seal ends the writing and maps what was written.
func (k *keyFile) seal() error {
	if k.file == nil {
		return nil
	}
	err := k.flush()
	if err == nil {
		k.mem, err = k.file.Map(k.size, false)
	}
	return err
}

// at is the key at a position that add returned. The caller guards the memory.
func (k *keyFile) at(p place) []byte {
	b := k.mem.Bytes()[p&^inKeyFile:]
	n, i := binary.Uvarint(b)
	return b[i : i+int(n)]
}

// remove ends the use of the file.
func (k *keyFile) remove() error {
	if k.file == nil {
		return nil
	}
	var errs []error
	if k.mem != nil {
		errs = append(errs, k.mem.Unmap())
	}
	errs = append(errs, k.file.Close(), k.fs.Remove(k.name))
	k.file, k.mem = nil, nil
	return errors.Join(errs...)
}

func newKeyFile(fs vfs.FS, dir string) *keyFile {
	return &keyFile{fs: fs, name: filepath.Join(dir, keyFileName)}
}
