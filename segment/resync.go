package segment

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/seglog/seglog/record"
)

// Where a batch has what is looked at of one that cannot be parsed.
const (
	lengthAt  = 8
	overhead  = 12 // what the length does not count
	magicAt   = 16
	crcAt     = 17
	coveredAt = 21 // the checksum covers everything from here on
	deltaAt   = 23
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Resync looks behind the bad batch at position for the next whole one whose
// offsets are at or above next and below end, which is where the segment ends: one
// of another segment, that came to be here, is none of this.
//
// Not every whole batch is one of the log: records may hold encoded batches,
// and those of the bad batch must not come out as records of the log. So one is
// taken that stands where the bad batch ends, by its length or by its checksum;
// where neither tells, one whose offset is the one that follows, or that others
// follow in turn.
func Resync(log []byte, position, next, end int64) (b record.Batch, at int64, ok bool) {
	w := wreck{log: log, position: position, next: next, reach: end}
	w.guess()
	if b, ok := w.batch(w.end); ok && w.follows(b) {
		return b, w.end, true
	}
	if found, at, ok := w.search(w.end, w.proven); ok { // the length may be what is damaged
		return found, at, true
	}
	if b, ok := w.batch(w.end); ok {
		return b, w.end, true
	}
	if w.end >= w.dataEnd() {
		return record.Batch{}, 0, false // it was the last
	}
	w.covered, w.sum = position+coveredAt, 0
	all := int64(len(log))
	b, at, ok = w.search(all, func(b record.Batch, at int64) bool { return w.proven(b, at) || w.leads(at, enough, enough) })
	if ok && w.proven(b, at) {
		return b, at, true
	}
	if !ok && w.last() {
		return record.Batch{}, 0, false
	}
	return w.search(all, func(b record.Batch, at int64) bool { return w.follows(b) || w.leads(at, enough, few) })
}

// Followed says whether, by its checksum, the bad batch at position ends where a
// whole one begins.
func Followed(log []byte, position int64) bool {
	if int64(len(log))-position < record.HeaderSize {
		return false
	}
	w := wreck{log: log, position: position, reach: math.MaxInt64, covered: position + coveredAt}
	_, _, ok := w.search(int64(len(log)), w.proven)
	return ok
}

// How many batches in a row are the log's for certain, and how many are taken
// for that though neither another nor the end follows.
const enough, few = 16, 2

// wreck is a bad batch.
type wreck struct {
	log            []byte
	position, next int64
	reach          int64    // the offset that the log ends at, at the latest
	end            int64    // where it ends by its length, -1 if that cannot be
	after          [2]int64 // the offsets that follow it, by what it says itself or by what was due
	sum            uint32   // of the bytes from coveredAt up to covered
	covered        int64
}

// guess takes the damaged header at its word, as far as that can be.
func (w *wreck) guess() {
	w.end, w.after, w.covered = -1, [2]int64{-1, -1}, w.position+coveredAt
	h := w.log[w.position:]
	if len(h) < record.HeaderSize {
		return
	}
	if length := int64(int32(binary.BigEndian.Uint32(h[lengthAt:]))); length >= record.HeaderSize-overhead && length <= int64(len(h))-overhead {
		w.end = w.position + overhead + length
	}
	if count := int64(int32(binary.BigEndian.Uint32(h[deltaAt:]))) + 1; count > 0 {
		w.after = [2]int64{int64(binary.BigEndian.Uint64(h)) + count, w.next + count}
	}
}

// batch is the whole batch at that position, if there is one that may follow.
func (w *wreck) batch(at int64) (record.Batch, bool) {
	if at < 0 {
		return record.Batch{}, false
	}
	b, err := record.Parse(w.log[at:])
	return b, err == nil && b.BaseOffset >= w.next && b.NextOffset() <= w.reach
}

func (w *wreck) follows(b record.Batch) bool {
	return b.BaseOffset == w.after[0] || b.BaseOffset == w.after[1]
}

// proven says whether the checksum of the bad batch holds if it ends at that
// position. It is asked with positions that do not descend.
func (w *wreck) proven(_ record.Batch, at int64) bool {
	if at < w.position+record.HeaderSize {
		return false
	}
	if at > w.covered {
		w.sum, w.covered = crc32.Update(w.sum, castagnoli, w.log[w.covered:at]), at
	}
	return w.sum == binary.BigEndian.Uint32(w.log[w.position+crcAt:])
}

// last says whether, by its checksum, the bad batch ends where the log does, or
// zeros begin that go on to the end.
func (w *wreck) last() bool {
	const most = 64 // zeros that a batch may well end in
	data := w.dataEnd()
	for at := max(w.covered, data); at <= min(data+most, int64(len(w.log))); at++ {
		if w.proven(record.Batch{}, at) {
			return true
		}
	}
	return false
}

// leads says whether the batch at that position begins a row of that many, or of
// that few if need be, or one that goes on to the end or to another bad batch of
// the log: an encoded batch within a record does not.
func (w *wreck) leads(at int64, many, few int) bool {
	next := w.next
	for n := 0; n < many; n++ {
		b, err := record.Parse(w.log[at:])
		if err == nil && b.BaseOffset < next {
			return false
		}
		if err != nil || b.NextOffset() > w.reach {
			h, err := record.ParseHeader(w.log[at:])
			return n >= few || few < many && err == nil && h.BaseOffset >= next
		}
		next, at = b.NextOffset(), at+int64(b.Size)
		if at == int64(len(w.log)) {
			return few < many
		}
	}
	return true
}

// search looks for a batch that begins below end and is to be taken. The byte
// that is alike in every batch is the magic, so each place that has it is
// tried: the header must be sane, and then the checksum decides.
func (w *wreck) search(end int64, take func(b record.Batch, at int64) bool) (record.Batch, int64, bool) {
	for at := w.position + 1; at < end && at+record.HeaderSize <= int64(len(w.log)); at++ {
		skip := bytes.IndexByte(w.log[at+magicAt:], 2)
		if skip < 0 {
			break
		}
		if at += int64(skip); at >= end {
			break
		}
		if b, ok := w.batch(at); ok && take(b, at) {
			return b, at, true
		}
	}
	return record.Batch{}, 0, false
}

// dataEnd is where nothing but zeros follows.
func (w *wreck) dataEnd() int64 { return int64(DataEnd(w.log)) }
