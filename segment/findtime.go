package segment

import (
	"io"
	"sync"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

var decoders = sync.Pool{New: func() any { return new(record.Decoder) }}

// TimeLookup is the way FindTime took, for people to look at.
type TimeLookup struct {
	Entry    index.TimeEntry // the floor in the time index; timestamp -1 for none
	Slot     int             // of that entry, -1 for none, or where it was not believed
	Entries  int             // in the time index
	Offset   Lookup          // how the place to start was found
	Batches  int             // the scan passed, from there
	Bytes    int64           // the scan passed, from there
	Position int64           // of the batch where the scan ended
}

// FindTime is the first record at or above offset from whose timestamp is at
// or above ts (ms); ok is false where there is none. Control batches have no
// records to find. way, if not nil, is told how it went.
func (p Pin) FindTime(ts, from int64, way *TimeLookup) (offset int64, ok bool, err error) {
	defer p.faulted(from, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	if way == nil {
		way = new(TimeLookup)
	}
	start := p.startFor(ts, from, way)
	pos, err := p.find(start, &way.Offset)
	if err == io.EOF {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	next := p.s.base
	for way.Position = pos; way.Position < p.size; way.Batches++ {
		h, err := record.ParseHeader(p.r.log[way.Position:p.size])
		if err == nil && h.MaxTimestamp >= ts && h.LastOffset() >= from && !h.Control() {
			offset, ok, err = p.firstAt(way.Position, ts, from)
		}
		if err != nil {
			return 0, false, p.damage(way.Position, next, err)
		}
		way.Bytes = way.Position - pos
		if ok {
			return offset, true, nil
		}
		next, way.Position = h.NextOffset(), way.Position+int64(h.Size)
	}
	return 0, false, nil
}

// startFor is an offset at or above from below which no record is as late as
// ts, by the time index. An entry that does not hold of the batch it names is
// not believed.
func (p Pin) startFor(ts, from int64, way *TimeLookup) int64 {
	entry, slot := p.r.times.Floor(ts)
	way.Entry, way.Slot, way.Entries = entry, -1, p.r.times.Len()
	if slot < 0 || entry.Offset <= from {
		return from
	}
	pos, err := p.find(entry.Offset, nil)
	if err != nil {
		return from
	}
	h, err := record.ParseHeader(p.r.log[pos:p.size])
	if err != nil || h.MaxTimestamp != entry.Timestamp {
		return from
	}
	way.Slot = slot
	return entry.Offset
}

// firstAt is FindTime within the batch at pos.
func (p Pin) firstAt(pos, ts, from int64) (offset int64, ok bool, err error) {
	b, err := record.Parse(p.r.log[pos:p.size])
	if err != nil {
		return 0, false, err
	}
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	d.MaxBytes = p.s.cfg.MaxBatchBytes
	for r, err := range d.Records(b) {
		if err != nil {
			return 0, false, err
		}
		if r.Offset >= from && !r.Time.IsZero() && r.Time.UnixMilli() >= ts {
			return r.Offset, true, nil
		}
	}
	return 0, false, nil
}
