package segment

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/seglog/seglog/internal/vfs"
)

// MaxIndexBytes is the size neither index outgrows: Kafka's
// segment.index.bytes.
const MaxIndexBytes = 10 << 20

// MaxBytes is the largest a segment can be, positions being int32.
const MaxBytes = 1<<31 - 1

// Config is what all segments of a log have in common.
type Config struct {
	FS            vfs.FS
	Dir           string
	Bytes         int64 // capacity of a new segment: Kafka's segment.bytes
	IndexInterval int64 // bytes between offset index entries
	MaxBatchBytes int   // the most that a batch's records may decompress to
	Cache         *Cache
	ReadOnly      bool // no file is created or changed
	Logger        *slog.Logger
}

// Facts is what a log needs to know of a segment without touching its pages.
type Facts struct {
	Base       int64
	Next       int64 // offset after the last; Base where there is none
	Size       int64 // bytes of whole batches in the .log
	IndexBytes int64 // size of the .index cut to its entries
	TimeBytes  int64 // size of the .timeindex cut to its entries
	FirstTime  int64 // ms, largest timestamp of the first batch, -1 for none
	MaxTime    int64 // ms, largest timestamp, -1 for none
	MaxTimeAt  int64 // last offset of the earliest batch that has it
	Seal       uint64
	HasSeal    bool // Seal is the xxhash64 of the .log's Size bytes
}

// Empty is the facts of a segment without a batch.
func Empty(base int64) Facts {
	return Facts{Base: base, Next: base, FirstTime: -1, MaxTime: -1, MaxTimeAt: base}
}

// Segment is one segment of a log. See the package comment for who may call
// what when.
type Segment struct {
	cfg  *Config
	base int64

	// Published in this order by the writer, loaded in the reverse one.
	firstTime atomic.Int64
	maxTime   atomic.Int64
	next      atomic.Int64
	size      atomic.Int64

	region atomic.Pointer[region] // nil while not mapped
	live   atomic.Int64           // regions not yet unmapped, evicted ones included
	mu     struct {
		sync.Mutex
		gone bool // no region will ever be mapped again
	}

	growing bool         // see OpenGrowing
	lost    *DamageError // see SetLost
	swapped bool         // see OpenSwapped

	w    *writer  // nil unless active
	file vfs.File // the .log of a segment written here and not yet synced
	// synced is the size when it was last synced while it was active, at first the
	// one that it was opened with.
	synced atomic.Int64

	facts Facts // of a sealed segment; immutable once it is published
}

// OpenSealed is a segment of known facts. No file is touched before its first
// read.
func OpenSealed(cfg *Config, f Facts) *Segment {
	s := &Segment{cfg: cfg, base: f.Base, facts: f}
	s.firstTime.Store(f.FirstTime)
	s.maxTime.Store(f.MaxTime)
	s.next.Store(f.Next)
	s.size.Store(f.Size)
	return s
}

// OpenGrowing is a segment that another process appends to, as far as it was
// whole when it was looked at. Of its indexes, which grow too, the entries that
// can be true are used.
func OpenGrowing(cfg *Config, f Facts) *Segment {
	s := OpenSealed(cfg, f)
	s.growing = true
	return s
}

// SetLost says that records are missing behind the segment's last batch, up to
// Next: whoever reads on there gets that error. It is called before anybody
// else has the segment.
func (s *Segment) SetLost(d *DamageError) { s.lost = d }

// Lost is what SetLost said, nil for nothing.
func (s *Segment) Lost() *DamageError { return s.lost }

// Absent says that there is no file of the segment: all of it is lost.
func (s *Segment) Absent() bool { return s.lost != nil && errors.Is(s.lost.Err, fs.ErrNotExist) }

// end is what follows the last batch: io.EOF, or a copy of what SetLost said.
func (s *Segment) end() error {
	if s.lost == nil {
		return io.EOF
	}
	d := *s.lost
	return &d
}

// OpenSwapped is a sealed segment, only to be read, that is about to replace
// others: a process stopped before all its files had their names, or goes on to
// give them those while they are read.
func OpenSwapped(cfg *Config, f Facts) *Segment {
	s := OpenSealed(cfg, f)
	s.swapped = true
	return s
}

// Base is the segment's base offset, the one its files are named by.
func (s *Segment) Base() int64 { return s.base }

// Next is the offset after the last published record, Base where there is none.
func (s *Segment) Next() int64 { return s.next.Load() }

// Size is the published length of the .log in bytes.
func (s *Segment) Size() int64 { return s.size.Load() }

// FirstTime is the largest timestamp of the first batch in ms, -1 for none.
func (s *Segment) FirstTime() int64 { return s.firstTime.Load() }

// MaxTime is the largest timestamp of the published records in ms, -1 for none.
func (s *Segment) MaxTime() int64 { return s.maxTime.Load() }

// Active says that the segment takes appends.
func (s *Segment) Active() bool { return s.w != nil }

// Path is the .log file's.
func (s *Segment) Path() string { return path(s.cfg.Dir, s.base, LogSuffix) }

// present is the name that a file of the segment has now.
func (s *Segment) present(suffix string) string {
	name := path(s.cfg.Dir, s.base, suffix)
	if s.swapped {
		if _, err := s.cfg.FS.Stat(name + SwapSuffix); err == nil {
			return name + SwapSuffix
		}
	}
	return name
}

// PinsHeld is how many Pins and Views are out.
func (s *Segment) PinsHeld() int64 {
	if r := s.region.Load(); r != nil {
		return r.held()
	}
	return 0
}
