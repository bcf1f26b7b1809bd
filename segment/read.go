package segment

import (
	"errors"
	"io"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// Find is the position of the first batch whose last offset is at or above
// offset, or io.EOF where there is none (the segment ends before, or what came
// there was compacted away). The batch itself is verified by whoever reads it;
// those passed on the way are where its place depends on them.
func (p Pin) Find(offset int64) (position int64, err error) {
	defer p.faulted(offset, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	return p.find(offset, nil)
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
	l.Position, err = p.find(offset, &l)
	return l, err
}

func (p Pin) find(offset int64, way *Lookup) (int64, error) {
	entry, slot := p.r.offsets.Floor(offset)
	start := index.OffsetEntry{Offset: p.s.base}
	leads, exact := p.leads(entry, slot)
	if leads && !exact {
		// An entry for a set of batches, or a batch whose base offset, which no
		// checksum covers, is damaged: what comes before it tells.
		if slot--; slot >= 0 {
			entry = p.r.offsets.At(slot)
		} else {
			entry = start
		}
		leads, _ = p.leads(entry, slot)
	}
	if !leads {
		// The entry is not true of the log: derived data never decides, so
		// scan from where no entry is needed.
		entry, slot = start, -1
	}
	pos, n, err := p.scan(entry.Position, offset)
	if way != nil {
		*way = Lookup{Entry: entry, Slot: slot, Entries: p.r.offsets.Len(), Batches: n, Bytes: pos - entry.Position}
	}
	return pos, err
}

// leads says whether the index entry of that slot can be followed, and whether
// it is about exactly the batch it leads to. The segment's start needs no entry.
func (p Pin) leads(e index.OffsetEntry, slot int) (leads, exact bool) {
	if slot < 0 {
		return true, true
	}
	if e.Position < 0 || e.Position >= p.size {
		return false, false
	}
	h, err := record.ParseHeader(p.r.log[e.Position:p.size])
	return err == nil && h.BaseOffset <= e.Offset, err == nil && h.LastOffset() == e.Offset
}

// scan walks headers from the batch at from to the first one whose last offset
// is at or above offset; n is how many it passed.
//
// Headers on the way are not verified, which makes the walk fast, and a damaged
// one can mislead it. That shows: the batch it ends at starts above offset
// though a gap is rare, or is no batch. Only then the walk is made again with
// checksums.
func (p Pin) scan(from, offset int64) (pos int64, n int, err error) {
	next := p.s.base
	for pos = from; pos < p.size; n++ {
		h, err := record.ParseHeader(p.r.log[pos:p.size])
		if err != nil || int64(h.Size) > p.size-pos || h.BaseOffset < next {
			return 0, 0, p.firstDamage(from, offset)
		}
		if h.LastOffset() >= offset {
			if h.BaseOffset > offset && n > 0 {
				if err := p.firstDamage(from, offset); err != nil && err != io.EOF {
					return 0, 0, err
				}
			}
			return pos, n, nil
		}
		next, pos = h.NextOffset(), pos+int64(h.Size)
	}
	if n > 0 && p.s.next.Load() > offset {
		if err := p.firstDamage(from, offset); err != nil {
			return 0, 0, err
		}
	}
	return pos, n, io.EOF
}

// firstDamage walks with checksums from the batch at from to the one that
// holds offset or the first after it, and returns a *DamageError for the first
// bad batch, io.EOF where all are good but none reaches offset, else nil.
func (p Pin) firstDamage(from, offset int64) error {
	next := p.s.base
	for pos := from; pos < p.size; {
		b, err := record.Parse(p.r.log[pos:p.size])
		if err == nil && b.BaseOffset < next {
			err = errOrder
		}
		if err != nil {
			return p.damage(pos, next, err)
		}
		if b.LastOffset() >= offset {
			return nil
		}
		next, pos = b.NextOffset(), pos+int64(b.Size)
	}
	return io.EOF
}

// Read copies the batch at position to buf, growing it where needed, verifies
// its checksum and returns it as a view of buf. next is the offset below which
// no batch can start there. io.EOF says that the log ends at position.
//
// The bytes are copied before they are verified, so what was verified is what
// the caller has, whatever happens to the file.
func (p Pin) Read(position, next int64, buf []byte) (b record.Batch, _ []byte, err error) {
	defer p.faulted(next, &err)
	defer vfs.Unguard(vfs.Guard(), &err)
	if position >= p.size {
		return b, buf, io.EOF
	}
	h, err := record.ParseHeader(p.r.log[position:p.size])
	if err == nil && int64(h.Size) > p.size-position {
		err = record.ErrShort
	}
	if err != nil {
		return b, buf, p.damage(position, next, err)
	}
	buf = append(buf[:0], p.r.log[position:position+int64(h.Size)]...)
	b, err = record.Parse(buf)
	if err == nil && !p.inOrder(b.BatchHeader, position, next) {
		err = errOrder
	}
	if err != nil {
		return record.Batch{}, buf, p.damage(position, next, err)
	}
	return b, buf, nil
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
		return nil, next, io.EOF
	}
	pos := position
	for pos < p.size {
		b, err := record.Parse(p.r.log[pos:p.size])
		if err == nil && !p.inOrder(b.BatchHeader, pos, next) {
			err = errOrder
		}
		if err != nil && pos == position {
			return nil, next, p.damage(position, next, err)
		}
		if err == nil && b.NextOffset() > bound && pos == position {
			return nil, next, io.EOF
		}
		if err != nil || b.NextOffset() > bound || pos > position && pos+int64(b.Size)-position > maxBytes {
			break
		}
		next, pos = b.NextOffset(), pos+int64(b.Size)
	}
	return p.r.log[position:pos:pos], next, nil
}

// inOrder says whether the base offset of the batch at position, which no
// checksum covers, can be right: not below next, and nothing of the batch above
// the end. Behind a gap, as compaction leaves, it must not reach into the batch
// that follows either.
func (p Pin) inOrder(h record.BatchHeader, position, next int64) bool {
	if h.BaseOffset < next || h.NextOffset() > p.s.next.Load() {
		return false
	}
	after := position + int64(h.Size)
	if h.BaseOffset == next || after >= p.size {
		return true
	}
	following, err := record.ParseHeader(p.r.log[after:p.size])
	return err != nil || following.BaseOffset >= h.NextOffset()
}

// damage describes the bad batch at position, the first offset of which is at
// least offset, and looks for where the segment can be read again.
func (p Pin) damage(position, offset int64, err error) error {
	if errors.Is(err, record.ErrShort) {
		err = errCutShort
	}
	if errors.Is(err, record.ErrUnsupportedMagic) {
		err = errMagic // no log with such messages opens
	}
	d := &DamageError{Path: p.s.Path(), Segment: p.s.base, Position: position, Offset: offset, Next: -1, Err: err}
	if b, at, ok := Resync(p.r.log[:p.size], position, offset); ok && b.NextOffset() <= p.s.next.Load() {
		d.Next, d.NextPosition = b.BaseOffset, at
	}
	return d
}
