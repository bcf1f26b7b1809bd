// Package disk is a disk with a write cache that is lost when the power goes,
// served to a virtual machine over NBD.
//
// What was written is in the cache until a flush, or a write that asks for it,
// makes it durable. Cut takes the power away: of what the cache holds any part
// may have reached the disk, down to single sectors, in any order.
package disk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"github.com/edsrzf/mmap-go"
)

// SectorSize is the smallest part of a disk that can be read or written.
const SectorSize = 512

// Disk is a disk over an image file, which is as durable as the disk is. All
// methods may be called by any number of goroutines.
type Disk struct {
	// IgnoreFlush makes a disk that says that it flushed and did not.
	IgnoreFlush bool
	// Unit is what is written whole or not at all, a multiple of SectorSize; 0 is
	// that.
	Unit int64

	mu struct {
		sync.Mutex
		image  mmap.MMap
		file   *os.File
		cached map[int64][]version // by sector, the newest last
		writes int                 // since the disk was opened
		bad    []span
		fail   int // so many writes, from now on
		stats  Stats
	}
}

// version is what one write made of a sector.
type version struct {
	write int
	data  [SectorSize]byte
}

// span is the bytes [from, to).
type span struct{ from, to int64 }

// Stats count what a disk was asked to do.
type Stats struct {
	Reads, Writes, Flushes int
	Through                int // writes that asked not to be cached
	BadReads, BadWrites    int // that failed
}

// Open takes an image file for a disk. Its size has to be in whole sectors.
func Open(name string) (*Disk, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Size() == 0 || info.Size()%SectorSize != 0) {
		err = fmt.Errorf("disk: %s has %d bytes, want whole sectors of %d", name, info.Size(), SectorSize)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	image, err := mmap.Map(f, mmap.RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	d := new(Disk)
	d.mu.image, d.mu.file, d.mu.cached = image, f, make(map[int64][]version)
	return d, nil
}

// Close gives the image up; what is cached is lost.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.mu.image.Unmap(), d.mu.file.Close())
}

// Size is the disk's, in bytes.
func (d *Disk) Size() int64 { return int64(len(d.mu.image)) }

// Stats are the counts since the disk was opened.
func (d *Disk) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.stats
}

// Cached is how many sectors wait for a flush.
func (d *Disk) Cached() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.mu.cached)
}

// ErrBad is the error of a read or write that touches a bad range, and of a write
// that is to fail.
var ErrBad = errors.New("disk: bad range")

// FailWrites makes the next n writes fail.
func (d *Disk) FailWrites(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.fail = n
}

// Break makes reads and writes of the bytes [from, to) fail from now on.
func (d *Disk) Break(from, to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.bad = append(d.mu.bad, span{from, to})
}

func (d *Disk) badLocked(at, n int64) bool {
	return slices.ContainsFunc(d.mu.bad, func(s span) bool { return at < s.to && at+n > s.from })
}

// Find lists the positions of the sectors whose bytes, as a read sees them, ok is
// true of.
func (d *Disk) Find(ok func(sector []byte) bool) (at []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n := range d.Size() / SectorSize {
		if ok(d.sectorLocked(n)) {
			at = append(at, n*SectorSize)
		}
	}
	return at
}

func (d *Disk) sectorLocked(n int64) []byte {
	if v := d.mu.cached[n]; len(v) > 0 {
		return v[len(v)-1].data[:]
	}
	return d.mu.image[n*SectorSize : (n+1)*SectorSize]
}

var errRange = errors.New("disk: outside, or not in whole sectors")

func (d *Disk) inRange(at, n int64) bool {
	return at >= 0 && at%SectorSize == 0 && n%SectorSize == 0 && n <= d.Size()-at
}

// ReadAt reads whole sectors.
func (d *Disk) ReadAt(p []byte, at int64) (int, error) {
	if !d.inRange(at, int64(len(p))) {
		return 0, errRange
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.stats.Reads++
	if d.badLocked(at, int64(len(p))) {
		d.mu.stats.BadReads++
		return 0, ErrBad
	}
	copy(p, d.mu.image[at:])
	for i := 0; i < len(p); i += SectorSize {
		copy(p[i:i+SectorSize], d.sectorLocked((at+int64(i))/SectorSize))
	}
	return len(p), nil
}

// Write writes whole sectors, to the cache or, if through, to the disk.
func (d *Disk) Write(p []byte, at int64, through bool) error {
	if !d.inRange(at, int64(len(p))) {
		return errRange
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.stats.Writes++
	d.mu.writes++
	if d.mu.fail > 0 || d.badLocked(at, int64(len(p))) {
		d.mu.fail = max(0, d.mu.fail-1)
		d.mu.stats.BadWrites++
		return ErrBad
	}
	if through {
		d.mu.stats.Through++
	}
	through = through && !d.IgnoreFlush
	for i := 0; i < len(p); i += SectorSize {
		n := (at + int64(i)) / SectorSize
		if through {
			delete(d.mu.cached, n)
			copy(d.mu.image[n*SectorSize:], p[i:i+SectorSize])
			continue
		}
		v := version{write: d.mu.writes}
		copy(v.data[:], p[i:])
		d.mu.cached[n] = append(d.mu.cached[n], v)
	}
	return nil
}

// Flush makes durable what was written before it.
func (d *Disk) Flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.stats.Flushes++
	if d.IgnoreFlush {
		return
	}
	d.settleLocked(func(int, int64) bool { return true })
}

// settleLocked empties the cache: of each write those units reach the disk that
// are to be kept.
func (d *Disk) settleLocked(keep func(write int, unit int64) bool) {
	sectors := max(d.Unit/SectorSize, 1)
	for _, n := range d.sectorsLocked() {
		versions := d.mu.cached[n]
		for i := len(versions) - 1; i >= 0; i-- {
			if keep(versions[i].write, n/sectors) {
				copy(d.mu.image[n*SectorSize:], versions[i].data[:])
				break
			}
		}
	}
	clear(d.mu.cached)
}

// sectorsLocked lists those cached, in order, so that the same choices are the
// same cut.
func (d *Disk) sectorsLocked() []int64 {
	sectors := make([]int64, 0, len(d.mu.cached))
	for n := range d.mu.cached {
		sectors = append(sectors, n)
	}
	slices.Sort(sectors)
	return sectors
}

// Cut takes the power away and says what became of the cache.
func (d *Disk) Cut(r *rand.Rand) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	cached := len(d.mu.cached)
	// Drawn once for each part, the same part of a write always having one fate.
	drawn := func(p float64) func(part [2]int64) bool {
		fates := make(map[[2]int64]bool)
		return func(part [2]int64) bool {
			keep, ok := fates[part]
			if !ok {
				keep = r.Float64() < p
				fates[part] = keep
			}
			return keep
		}
	}
	says := ""
	switch r.IntN(5) {
	case 0: // as if only the machine had been stopped
		says = "all of it written"
		d.settleLocked(func(int, int64) bool { return true })
	case 1:
		says = "none of it written"
		d.settleLocked(func(int, int64) bool { return false })
	case 2:
		p := r.Float64()
		says = fmt.Sprintf("writes written with probability %.2f", p)
		fate := drawn(p)
		d.settleLocked(func(write int, _ int64) bool { return fate([2]int64{int64(write)}) })
	case 3:
		p := r.Float64()
		says = fmt.Sprintf("parts of writes written with probability %.2f", p)
		fate := drawn(p)
		d.settleLocked(func(write int, unit int64) bool { return fate([2]int64{int64(write), unit}) })
	default:
		oldest := d.mu.writes
		for _, versions := range d.mu.cached {
			oldest = min(oldest, versions[0].write)
		}
		upTo := oldest + r.IntN(d.mu.writes-oldest+1)
		says = fmt.Sprintf("the first %d writes written", upTo-oldest)
		d.settleLocked(func(write int, _ int64) bool { return write < upTo })
	}
	return fmt.Sprintf("%d sectors in the cache, %s", cached, says)
}
