package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/internal/vfs"
)

// partitionsName, as keyFileName, ends so that recovery removes it.
const partitionsName = "seglog.partitions" + vfs.TempSuffix

const (
	partitionCount = 256      // by the lowest byte of a hash; a map is indexed by the highest bits
	blockBytes     = 16 << 10 // about how much of a partition is written at a time
)

// partitions is a file of the keys of all records, each key with those of like
// hash, so that a map that is too small for all of them is large enough for one
// partition after the other.
//
// A partition is blocks in the order of writing, a block is entries: the ordinal
// of the record as a varint, told from that of the entry before (the first of a
// block: from 0), the length of the key as a varint, and the key.
type partitions struct {
	fs   vfs.FS
	name string
	file vfs.File
	size int64
	list [partitionCount]partition
	mem  vfs.Mapping
}

type partition struct {
	buf     []byte // the block being made
	last    int64  // ordinal of the last entry in it
	blocks  []span
	entries int64
}

// span is where a block lies in the file.
type span struct{ at, size int64 }

// errTemporary says that a file which only helps could not be had or used.
var errTemporary = errors.New("compact: temporary file")

func newPartitions(fs vfs.FS, dir string) (*partitions, error) {
	p := &partitions{fs: fs, name: filepath.Join(dir, partitionsName)}
	var err error
	if p.file, err = fs.OpenFile(p.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return nil, fmt.Errorf("%w: %w", errTemporary, err)
	}
	return p, nil
}

// add appends a record to the partition of its hash. entry is its key with the
// length before it.
func (p *partitions) add(hash uint64, ordinal int64, entry []byte) error {
	t := &p.list[hash%partitionCount]
	if t.buf == nil {
		t.buf = make([]byte, 0, blockBytes+blockBytes/16)
	}
	t.buf = binary.AppendUvarint(t.buf, uint64(ordinal-t.last))
	t.buf = append(t.buf, entry...)
	t.last = ordinal
	t.entries++
	if len(t.buf) < blockBytes {
		return nil
	}
	return p.flush(t)
}

func (p *partitions) flush(t *partition) error {
	n := int64(len(t.buf))
	if _, err := p.file.WriteAt(t.buf, p.size); err != nil {
		return fmt.Errorf("%w: %w", errTemporary, err)
	}
	t.blocks = append(t.blocks, span{p.size, n})
	p.size += n
	t.buf, t.last = t.buf[:0], 0
	return nil
}

// seal ends the writing and maps what was written, if anything was.
func (p *partitions) seal() (err error) {
	for i := range p.list {
		t := &p.list[i]
		if len(t.buf) > 0 {
			if err := p.flush(t); err != nil {
				return err
			}
		}
		t.buf = nil
	}
	if p.size == 0 {
		return nil
	}
	if p.mem, err = p.file.Map(p.size, false); err != nil {
		return fmt.Errorf("%w: %w", errTemporary, err)
	}
	return nil
}

// remove ends the use of the file.
func (p *partitions) remove() error {
	var errs []error
	if p.mem != nil {
		errs = append(errs, p.mem.Unmap())
	}
	return errors.Join(append(errs, p.file.Close(), p.fs.Remove(p.name))...)
}

// entries reads a partition from some entry on. A copy of it goes on from where
// the original was.
type entries struct {
	mem    []byte
	blocks []span // the one being read first
	at     int64  // in it
	last   int64
}

func (p *partitions) entriesOf(t *partition) entries {
	if p.mem == nil {
		return entries{}
	}
	return entries{mem: p.mem.Bytes(), blocks: t.blocks}
}

// next is the next entry: its ordinal, and where in the file the length of its
// key is. It is false at the end. The caller guards the memory.
func (e *entries) next() (ordinal int64, key place, ok bool) {
	if len(e.blocks) > 0 && e.at == e.blocks[0].size {
		e.blocks, e.at, e.last = e.blocks[1:], 0, 0
	}
	if len(e.blocks) == 0 {
		return 0, 0, false
	}
	b := e.blocks[0]
	block := e.mem[b.at : b.at+b.size]
	delta, n := binary.Uvarint(block[e.at:])
	e.at += int64(n)
	e.last += int64(delta)
	key = place(b.at + e.at)
	length, n := binary.Uvarint(block[e.at:])
	e.at += int64(n) + int64(length)
	return e.last, key, true
}

// after is e behind n more entries.
func (e entries) after(n int) entries {
	for range n {
		e.next()
	}
	return e
}

// keyAt is the key that is there with its length.
func (e *entries) keyAt(p place) []byte {
	length, n := binary.Uvarint(e.mem[p:])
	from := int(p) + n
	return e.mem[from : from+int(length)]
}
