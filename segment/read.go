package segment

import (
	"errors"
	"io"
	"math"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// Find is the position of the first batch whose last offset is at or above
// offset, or io.EOF where there is none (the segment ends before, or what came
// there was compacted away). No batch can begin below low there. The batch itself
// is verified by whoever reads it; those passed on the way are where its place
// depends on them.
func (p Pin) Find(offset int64) (position, low int64, err error) {
	if position, low, err = p.quickFind(offset); err == nil || !errors.Is(err, vfs.ErrFault) {
		return position, low, err
	}
	defer p.faulted(offset, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	return p.find(offset, nil)
}

// quickFind is Find under one guard, which costs as much as some steps of the scan. A
// fault may be in the index, which can be done without, or behind the batch.
func (p Pin) quickFind(offset int64) (position, low int64, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	entry, before, slot := p.unguardedFloor(offset, math.MaxInt64)
	p.fetch(entry.Position)
	return p.follow(entry, before, slot, offset, nil)
}

// Lookup is the way Find took, for people to look at.
type Lookup struct {
	Entry    index.OffsetEntry // the floor in the offset index, or the segment's start
	Slot     int               // of that entry, -1 for the segment's start
	Entries  int               // in the index
	Batches  int               // passed by the scan
	Bytes    int64             // passed by the scan
	Position int64             // of the batch found
}

// Explain is Find with the way it took.
func (p Pin) Explain(offset int64) (l Lookup, err error) {
	defer p.faulted(offset, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	l.Position, _, err = p.find(offset, &l)
	return l, err
}

func (p Pin) find(offset int64, way *Lookup) (pos, low int64, err error) {
	entry, before, slot := p.floor(offset, math.MaxInt64)
	return p.follow(entry, before, slot, offset, way)
}

// follow is find from the floor of offset in the index, and the entry before it.
func (p Pin) follow(entry, before index.OffsetEntry, slot int, offset int64, way *Lookup) (pos, low int64, err error) {
	start := index.OffsetEntry{Offset: p.s.base}
	low, leads, exact := p.leads(entry, slot)
	if leads && !exact {
		// An entry for a set of batches, or a batch whose base offset, which no
		// checksum covers, is damaged: what comes before it tells.
		entry, slot = before, slot-1
		low, leads, exact = p.leads(entry, slot)
	}
	if !leads {
		// The entry is not true of the log: derived data never decides, so
		// scan from where no entry is needed.
		entry, slot, exact = start, -1, false
	}
	if !exact {
		low = p.s.base
	}
	pos, low, n, err := p.scan(entry.Position, low, offset)
	if way != nil {
		*way = Lookup{Entry: entry, Slot: slot, Entries: p.r.offsets.Len(), Batches: n, Bytes: pos - entry.Position}
	}
	return pos, low, err
}

// floor is the last entry of the offset index that is at or below offset and of a
// position below that, and the one before it; the segment's start, of slot -1,
// where there is none, or where the index, which is derived, cannot be touched.
func (p Pin) floor(offset, position int64) (entry, before index.OffsetEntry, slot int) {
	entry, before, slot, err := p.guardedFloor(offset, position)
	if err != nil {
		start := index.OffsetEntry{Offset: p.s.base}
		return start, start, -1
	}
	return entry, before, slot
}

func (p Pin) guardedFloor(offset, position int64) (entry, before index.OffsetEntry, slot int, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	entry, before, slot = p.unguardedFloor(offset, position)
	return entry, before, slot, nil
}

func (p Pin) unguardedFloor(offset, position int64) (entry, before index.OffsetEntry, slot int) {
	start := index.OffsetEntry{Offset: p.s.base}
	entry, slot = p.r.offsets.Floor(offset)
	for slot >= 0 && entry.Position >= position {
		if slot--; slot >= 0 {
			entry = p.r.offsets.At(slot)
		}
	}
	if slot < 0 {
		return start, start, -1
	}
	before = start
	if slot > 0 {
		before = p.r.offsets.At(slot - 1)
	}
	return entry, before, slot
}

// fetch loads what a scan from position on goes over, up to the next index entry, all
// of it at once: the scan waits for each header before it knows where the next one is.
func (p Pin) fetch(position int64) {
	const line, most = 64, 4 << 10
	if position >= 0 && position < p.size {
		load(p.r.log[position:min(position+min(p.s.cfg.IndexInterval, most)+4*line, p.size)], line)
	}
}

// load reads a byte of each line. What it returns is of no use, but reading it is.
//
//go:noinline
func load(b []byte, line int) (sum byte) {
	for at := 0; at < len(b); at += line {
		sum += b[at]
	}
	return sum
}

// leads says whether the index entry of that slot can be followed, and whether
// it is about exactly the batch it leads to, which then begins at base. The
// segment's start needs no entry.
func (p Pin) leads(e index.OffsetEntry, slot int) (base int64, leads, exact bool) {
	if slot < 0 {
		return p.s.base, true, true
	}
	if e.Position < 0 || e.Position >= p.size {
		return 0, false, false
	}
	o, ok := record.ParseOutline(p.r.log[e.Position:p.size])
	return o.First, ok && o.First <= e.Offset, ok && o.Last == e.Offset
}

// scan walks headers from the batch at from, which does not begin below low, to
// the first one whose last offset is at or above offset; n is how many it passed.
//
// Headers on the way are not verified, which makes the walk fast, and a damaged
// one can mislead it. That shows: the batch it ends at starts above offset
// though a gap is rare, or is no batch. Only then the walk is made again with
// checksums.
func (p Pin) scan(from, low, offset int64) (pos, next int64, n int, err error) {
	next = low
	for pos = from; pos < p.size; n++ {
		o, ok := record.ParseOutline(p.r.log[pos:p.size])
		if !ok || int64(o.Size) > p.size-pos || o.First < next {
			return p.verifiedScan(from, low, offset)
		}
		if o.Last >= offset {
			if o.First > offset {
				return p.verifiedScan(from, low, offset)
			}
			return pos, next, n, nil
		}
		next, pos = o.Next(), pos+int64(o.Size)
	}
	if n > 0 && p.s.next.Load() > offset {
		return p.verifiedScan(from, low, offset)
	}
	return pos, next, n, io.EOF
}

// verifiedScan is scan with checksums. It goes on behind damage that ends below
// offset, and ends at damage that may hold it.
func (p Pin) verifiedScan(from, low, offset int64) (pos, next int64, n int, err error) {
	next = low
	for pos = from; pos < p.size; n++ {
		o, bad, err := p.whole(pos, next)
		if err != nil {
			d := p.damage(pos, bad, next, err)
			if d.Next < 0 || d.Next > offset {
				return 0, 0, n, d
			}
			next, pos = d.Next, d.NextPosition
			continue
		}
		if o.Last >= offset {
			return pos, next, n, nil
		}
		next, pos = o.Next(), pos+int64(o.Size)
	}
	return pos, next, n, io.EOF
}

// whole verifies the batch at pos, where next is due; bad goes with an error:
// see CheckOrder.
func (p Pin) whole(pos, next int64) (o record.Outline, bad int64, err error) {
	end := p.s.next.Load()
	if o, ok := record.ParseWhole(p.r.log[pos:p.size]); ok && o.First == next && o.Next() <= end {
		return o, 0, nil
	}
	b, err := record.Parse(p.r.log[pos:p.size])
	if err != nil {
		return o, pos, err
	}
	bad, err = CheckOrder(p.r.log[:p.size], &b.BatchHeader, pos, next, end)
	return record.Outline{Size: b.Size, First: b.BaseOffset, Last: b.LastOffset()}, bad, err
}

// Read copies the batch at position to buf, growing it where needed, verifies
// its checksum and makes *b, which is zero after an error, a view of buf. next is
// the offset below which no batch can start there. io.EOF says that the log ends
// at position, a *DamageError that what was behind is lost.
//
// The bytes are copied before they are verified, so what was verified is what
// the caller has, whatever happens to the file.
func (p Pin) Read(b *record.Batch, position, next int64, buf []byte) (_ []byte, err error) {
	defer p.faulted(next, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	*b = record.Batch{}
	if position >= p.size {
		return buf, p.s.end()
	}
	o, ok := record.ParseOutline(p.r.log[position:p.size])
	if !ok || int64(o.Size) > p.size-position {
		if _, err = record.ParseHeader(p.r.log[position:p.size]); err == nil {
			err = record.ErrShort
		}
		return buf, p.damage(position, position, next, err)
	}
	if cap(buf) < o.Size {
		buf = nil // grown it would be larger than need be
	}
	buf = append(buf[:0], p.r.log[position:position+int64(o.Size)]...)
	err = b.Parse(buf)
	bad := position
	if err == nil {
		bad, err = CheckOrder(p.r.log[:p.size], &b.BatchHeader, position, next, p.s.next.Load())
	}
	if err != nil {
		*b = record.Batch{}
		return buf, p.damage(position, bad, next, err)
	}
	return buf, nil
}

// Run verifies whole batches from position on, as many as fit maxBytes but at
// least one, and returns their memory, which is the mapping's and valid until
// Release. No batch of it reaches beyond the offset bound. io.EOF says that the
// log, or what is below bound, ends at position. Damage behind the first batch
// only ends the run.
func (p Pin) Run(position, next, maxBytes, bound int64) (data []byte, last int64, err error) {
	defer p.faulted(next, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	if position >= p.size {
		return nil, next, p.s.end()
	}
	pos := position
	for pos < p.size {
		o, bad, err := p.whole(pos, next)
		if err != nil && pos == position {
			return nil, next, p.damage(position, bad, next, err)
		}
		if err == nil && o.Next() > bound && pos == position {
			return nil, next, io.EOF
		}
		if err != nil || o.Next() > bound || pos > position && pos+int64(o.Size)-position > maxBytes {
			break
		}
		next, pos = o.Next(), pos+int64(o.Size)
	}
	return p.r.log[position:pos:pos], next, nil
}

// damage describes the bad batch at position, the first offset of which is at
// least offset, and looks behind the batch at bad, which is the same or the one
// that follows it, for where the segment can be read again.
func (p Pin) damage(position, bad, offset int64, err error) *DamageError {
	if errors.Is(err, record.ErrShort) {
		err = errCutShort
	}
	if errors.Is(err, record.ErrUnsupportedMagic) {
		err = errMagic // no log with such messages opens
	}
	d := &DamageError{Path: p.s.Path(), Segment: p.s.base, Position: position, Offset: offset, Next: -1, Err: err}
	if b, at, ok := Resync(p.r.log[:p.size], bad, offset, p.s.next.Load()); ok {
		d.Next, d.NextPosition = b.BaseOffset, at
	}
	return d
}
