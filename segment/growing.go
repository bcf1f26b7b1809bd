package segment

import (
	"errors"
	"os"

	"github.com/seglog/seglog/internal/vfs"
)

// How files of an active segment grow: a first step small enough that an empty
// log costs little disk, doubling up to one large enough that allocating is
// rare.
const (
	firstLogStep   = 256 << 10
	firstIndexStep = 4 << 10
	lastStep       = 32 << 20
)

// growing is a file mapped once at its full capacity and allocated in steps as
// it fills. Memory at or beyond size must not be touched.
type growing struct {
	file vfs.File
	m    vfs.Mapping
	mem  []byte // the capacity
	// store is how mem is stored to; nil is like any other memory.
	store func(at int64, b []byte)
	size  int64 // of the file: allocated or there before
	step  int64

	// prepared is the end of what has pages in the page cache: see prepare.
	prepared int64
	ahead    ahead
	heap     bool // mem is not the file's, of which there may be none: see openOrHeap and reserveOrHeap
}

func (g *growing) open(fs vfs.FS, name string, capacity, step int64) error {
	f, err := fs.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	m, err := f.Map(max(capacity, size), true)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	*g = growing{file: f, m: m, mem: m.Bytes(), store: vfs.StoreOf(m), size: size, step: step, prepared: size}
	g.ahead.file = vfs.AheadOf(f)
	return nil
}

// openOrHeap is open for a derived file: where there is no room to make it, it is
// in the heap alone, for a later open to derive.
func (g *growing) openOrHeap(fs vfs.FS, name string, capacity, step int64) error {
	err := g.open(fs, name, capacity, step)
	if vfs.IsFull(err) {
		heap := make(heapMapping, capacity)
		*g = growing{m: heap, mem: heap, size: capacity, heap: true}
		return nil
	}
	return err
}

// entries is how many of that size the file has.
func (g *growing) entries(size int64) int {
	if g.heap {
		return 0
	}
	return int(g.size / size)
}

// reserve makes the file at least end bytes long, all of them allocated. It
// takes a whole step where there is room for one, and just what is needed
// where there is not.
func (g *growing) reserve(end int64) error {
	want := min(max(end, g.size+g.step), int64(len(g.mem)))
	err := g.file.Allocate(g.size, want)
	if vfs.IsFull(err) && want > end {
		want = end
		err = g.file.Allocate(g.size, want)
	}
	if err != nil {
		return err
	}
	g.size = want
	g.step = min(2*g.step, lastStep)
	return nil
}

// cut makes the file end bytes long. The mapping stays, and the file may grow
// again.
func (g *growing) cut(end int64) error {
	g.settle()
	if end == g.size || g.heap || !vfs.CutsMapped {
		return nil
	}
	if err := g.file.Truncate(end); err != nil {
		return err
	}
	g.size, g.prepared = end, min(g.prepared, end)
	return nil
}

// window is how much prepare writes at once. A store to a page that the page
// cache does not have faults it in alone, at a cost that on some machines is
// ten times that of writing zeros in bulk. Larger windows cost less a byte, but
// the cache then keeps them in larger folios, and a sync of one record writes
// a whole folio; 64 KiB costs neither (docs/decisions/0004).
const window = 64 << 10

var zeros [4 * window]byte

// prepare has pages made for the allocated bytes up to end at least, by writing
// zeros in such pieces ahead of everything that is stored.
func (g *growing) prepare(end, piece int64) error {
	if g.await(end); end <= g.prepared {
		return nil
	}
	to := min((end+window-1)/window*window, g.size)
	return writeZeros(g.file, g.prepared, to, piece, func(end int64) { g.prepared = end })
}

// reserveOrHeap is reserve for a derived file: where the disk is full, its
// memory moves to the heap and the file, of no use then, is left to be rebuilt
// by a later open.
func (g *growing) reserveOrHeap(end int64) error {
	if end <= g.size {
		return nil
	}
	err := g.reserve(end)
	if !vfs.IsFull(err) {
		return err
	}
	heap := make(heapMapping, len(g.mem))
	copy(heap, g.mem[:g.size])
	mapped := g.m
	g.m, g.mem, g.store, g.size, g.heap = heap, heap, nil, int64(len(heap)), true
	return errors.Join(mapped.Unmap(), g.file.Truncate(0))
}

// put stores b at a position.
func (g *growing) put(at int64, b []byte) {
	if g.store != nil {
		g.store(at, b)
		return
	}
	copy(g.mem[at:], b)
}

// clear stores zeros from a position to the end of the file.
func (g *growing) clear(from int64) {
	if n := DataEnd(g.mem[from:g.size]); n > 0 {
		g.put(from, make([]byte, n))
	}
}

// heapMapping stands in for the mapping of an index that could not be written.
type heapMapping []byte

func (h heapMapping) Bytes() []byte { return h }
func (h heapMapping) Unmap() error  { return nil }

func (g *growing) unmap() error { return g.m.Unmap() }

func (g *growing) close() error {
	if g.file == nil {
		return nil
	}
	return g.file.Close()
}

func (g *growing) sync() error {
	if g.file == nil {
		return nil
	}
	return g.file.Sync()
}
