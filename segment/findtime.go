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
	pos, low, err := p.find(start, &way.Offset)
	if err != nil && err != io.EOF {
		return 0, false, err
	}
	for way.Position = pos; way.Position < p.size; way.Batches++ {
		b, err := record.Parse(p.r.log[way.Position:p.size])
		bad := way.Position
		if err == nil {
			bad, err = CheckOrder(p.r.log[:p.size], &b.BatchHeader, way.Position, low, p.s.next.Load())
		}
		if err == nil && b.MaxTimestamp >= ts && b.LastOffset() >= from && !b.Control() {
			offset, ok, err = p.firstAt(b, ts, from)
		}
		if err != nil { // what is looked for may be there
			return 0, false, p.damage(way.Position, bad, low, err)
		}
		way.Bytes = way.Position - pos
		if ok {
			return offset, true, nil
		}
		low, way.Position = b.NextOffset(), way.Position+int64(b.Size)
	}
	if err := p.s.end(); err != io.EOF {
		return 0, false, err
	}
	return 0, false, nil
}

// startFor is an offset at or above from below which no record is as late as
// ts, by the time index. An entry that does not hold of the batch it names is
// not believed.
func (p Pin) startFor(ts, from int64, way *TimeLookup) int64 {
	entry, slot, err := p.timeFloor(ts)
	if err != nil {
		return from // derived, and cannot be touched: look through all
	}
	way.Entry, way.Slot, way.Entries = entry, -1, p.r.times.Len()
	if slot < 0 || entry.Offset <= from {
		return from
	}
	pos, _, err := p.find(entry.Offset, nil)
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

func (p Pin) timeFloor(ts int64) (entry index.TimeEntry, slot int, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	entry, slot = p.r.times.Floor(ts)
	return entry, slot, nil
}

// firstAt is FindTime within a batch.
func (p Pin) firstAt(b record.Batch, ts, from int64) (offset int64, ok bool, err error) {
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
