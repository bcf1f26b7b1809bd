package recovery

import (
	"fmt"
	"math"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// indexWalk holds two indexes against the batches of their log, given one
// after the other. Both styles of entries that Kafka has written pass (see
// package index); what it finds is the first untruth of each index.
type indexWalk struct {
	offsets   *index.Offsets
	times     *index.Times
	o, t      int   // the entries not yet reached
	named     int   // the offset entry whose offset is not yet reached
	max       int64 // largest timestamp so far
	offsetErr error
	timeErr   error
}

func newIndexWalk(base int64, offsets, times []byte) *indexWalk {
	return &indexWalk{
		offsets: index.NewOffsets(base, offsets, len(offsets)/index.OffsetEntrySize),
		times:   index.NewTimes(base, times, len(times)/index.TimeEntrySize),
		max:     -1,
	}
}

// batch is the next batch, at position.
func (w *indexWalk) batch(h record.BatchHeader, position int64) {
	w.max = max(w.max, h.MaxTimestamp)
	for ; w.offsetErr == nil && w.o < w.offsets.Len(); w.o++ {
		e := w.offsets.At(w.o)
		if e.Position > position {
			break
		}
		switch {
		case e.Position < position:
			w.offsetErr = fmt.Errorf("offset index entry %d: no batch starts at position %d", w.o, e.Position)
		case e.Offset < h.LastOffset():
			w.offsetErr = fmt.Errorf("offset index entry %d: offset %d, but the batch at position %d ends at %d",
				w.o, e.Offset, position, h.LastOffset())
		}
	}
	for ; w.offsetErr == nil && w.named < w.offsets.Len(); w.named++ {
		e := w.offsets.At(w.named)
		if e.Offset > h.LastOffset() {
			break
		}
		if e.Offset < h.LastOffset() {
			w.offsetErr = fmt.Errorf("offset index entry %d: no batch ends at offset %d", w.named, e.Offset)
		}
	}
	for ; w.timeErr == nil && w.t < w.times.Len(); w.t++ {
		e := w.times.At(w.t)
		if e.Offset > h.LastOffset() {
			break
		}
		if e.Timestamp != w.max {
			w.timeErr = fmt.Errorf("time index entry %d: timestamp %d, but the largest up to offset %d is %d",
				w.t, e.Timestamp, e.Offset, w.max)
		}
	}
}

// end is the end of the log. closed says that the segment takes no more
// appends, so that its last time entry tells its largest timestamp.
func (w *indexWalk) end(f segment.Facts, closed bool) {
	if n := w.offsets.Len(); w.offsetErr == nil && w.o < n {
		w.offsetErr = fmt.Errorf("offset index entry %d: position %d is behind the last batch", w.o, w.offsets.At(w.o).Position)
	}
	if n := w.offsets.Len(); w.offsetErr == nil && w.named < n {
		w.offsetErr = fmt.Errorf("offset index entry %d: offset %d is behind the last batch", w.named, w.offsets.At(w.named).Offset)
	}
	if ok := w.offsets.Check(math.MaxInt64, math.MaxInt64); w.offsetErr == nil && ok < w.offsets.Len() {
		w.offsetErr = fmt.Errorf("offset index entry %d: not above the one before", ok)
	}
	if n := w.times.Len(); w.timeErr == nil && w.t < n {
		w.timeErr = fmt.Errorf("time index entry %d: offset %d is behind the last batch", w.t, w.times.At(w.t).Offset)
	}
	if ok := w.times.Check(f.Next); w.timeErr == nil && ok < w.times.Len() {
		w.timeErr = fmt.Errorf("time index entry %d: not above the one before", ok)
	}
	if last := w.times.Last(); w.timeErr == nil && closed && w.times.Len() > 0 && last.Timestamp != w.max {
		w.timeErr = fmt.Errorf("time index: its last timestamp is %d, but the segment's largest is %d", last.Timestamp, w.max)
	}
}
