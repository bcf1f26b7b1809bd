package vfs

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/seglog/seglog/internal/invariants"
)

// SectorSize is what a device writes whole or not at all, and the unit in
// which Mem counts its room. PageSize is what a kernel writes at once.
const (
	SectorSize = 512
	PageSize   = 4096
)

const sectorSize = SectorSize

// memNode is a file or a directory, whatever its name. The Mem's mutex guards
// it, but for the bytes of data while mapped: those are the mappers' business.
type memNode struct {
	number   int // in the order in which they were made
	mode     fs.FileMode
	modified time.Time

	// data is the memory that reads, writes and mappings share. It reaches
	// past size, as far as the longest mapping. While mapped it stays where
	// it is.
	data []byte
	size int64
	// taken tells which sectors occupy room; the others are holes.
	taken []bool
	room  int64 // bytes of taken sectors

	// synced is what the device holds; what it holds past syncedSize is there
	// once the length survives as well.
	synced     []byte
	syncedSize int64

	// told is data as it was told: every byte that was stored by Store or by a
	// write. It is nil until the first writable mapping.
	told []byte

	opens, maps int // handles and mappings
	locked      bool
}

func (n *memNode) isDir() bool { return n.mode.IsDir() }

// reserve makes data at least length bytes long.
func (n *memNode) reserve(length int64) error {
	if length <= int64(len(n.data)) {
		return nil
	}
	if n.maps > 0 {
		return fmt.Errorf("vfs.Mem: %d bytes wanted, but a live mapping holds the file's memory to %d: map the whole capacity first", length, len(n.data))
	}
	if int64(int(length)) != length {
		return syscall.EFBIG
	}
	grown := make([]byte, max(length, n.size*5/4))
	copy(grown, n.data[:n.size])
	n.data, n.told = grown, nil
	return nil
}

// resize sets the length; data must reach that far. What is cut is zeroed, and
// so is what comes in: a store past the end of the file never existed.
func (n *memNode) resize(size int64) {
	if invariants.Enabled && size > n.size {
		for at, b := range n.data[n.size:size] {
			invariants.Check(b == 0, "vfs.Mem: byte %d was stored past the end of a file of %d bytes", n.size+int64(at), n.size)
		}
	}
	clear(n.data[min(n.size, size):max(n.size, size)])
	if n.told != nil {
		clear(n.told[min(n.size, size):max(n.size, size)])
	}
	n.size = size
	for s := sectors(size); s < int64(len(n.taken)); s++ {
		if n.taken[s] {
			n.taken[s] = false
			n.room -= sectorSize
		}
	}
}

// holes counts the bytes of the sectors of [from, end) that occupy no room.
func (n *memNode) holes(from, end int64) (bytes int64) {
	for s := from / sectorSize; s < sectors(end); s++ {
		if s >= int64(len(n.taken)) || !n.taken[s] {
			bytes += sectorSize
		}
	}
	return bytes
}

// take gives room to the sectors of [from, end).
func (n *memNode) take(from, end int64) {
	n.room += n.holes(from, end)
	if missing := sectors(end) - int64(len(n.taken)); missing > 0 {
		n.taken = append(n.taken, make([]bool, missing)...)
	}
	for s := from / sectorSize; s < sectors(end); s++ {
		n.taken[s] = true
	}
}

// unmap ends one mapping. After the last one the file moves to other memory in
// a build that checks, so that bytes kept from a mapping are poison.
func (n *memNode) unmap() {
	n.maps--
	if invariants.Enabled && n.maps == 0 {
		old := n.data
		n.data = make([]byte, len(old))
		copy(n.data, old[:n.size])
		invariants.Poison(old)
	}
}

// sectors is how many sectors size bytes need.
func sectors(size int64) int64 { return (size + sectorSize - 1) / sectorSize }
