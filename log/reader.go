package log

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// reader walks the batches of a log from an offset on. It holds no memory of
// the log between two batches: each is copied under a pin of its own, so a slow
// consumer keeps no segment from being dropped.
type reader struct {
	l    *Log
	seg  *segment.Segment // nil: to be looked up by next
	pos  int64            // in seg, of the next batch
	low  int64            // no batch at pos starts below it
	next int64            // the first offset not yet returned
}

// batch returns the next batch whose last offset is at or above next, copied to
// buf where it fits. io.EOF says that there is none yet.
func (r *reader) batch(buf []byte) (b record.Batch, _ []byte, err error) {
	for {
		if r.seg == nil {
			if err := r.seek(); err != nil {
				return b, buf, r.unreadable(err)
			}
		}
		p, err := r.seg.Pin()
		if errors.Is(err, segment.ErrGone) {
			if err = r.lost(); err == nil {
				continue
			}
		}
		if err != nil {
			return b, buf, err
		}
		b, buf, err = p.Read(r.pos, r.low, buf)
		p.Release()
		switch {
		case err == io.EOF:
			if !r.advance() {
				return b, buf, io.EOF
			}
		case err != nil:
			return b, buf, r.unreadable(err)
		default:
			r.pos += int64(b.Size)
			r.low = b.NextOffset()
			if b.LastOffset() >= r.next {
				r.next = b.NextOffset()
				return b, buf, nil
			}
		}
	}
}

// unreadable makes a DamageError, which knows where the bad batch may begin at
// the earliest, tell the first offset that this reader misses.
func (r *reader) unreadable(err error) error {
	var d *DamageError
	if errors.As(err, &d) {
		d.Offset = max(d.Offset, r.next)
	}
	return err
}

// seek finds the segment and the position for next.
func (r *reader) seek() error {
	for {
		if r.l.closed.Load() {
			return ErrClosed
		}
		set := r.l.set.Load() // before First, which is raised first
		switch {
		case r.next < r.l.First():
			return r.l.offsetError(r.next, ErrTrimmed)
		case r.next > r.l.End():
			return r.l.offsetError(r.next, ErrBeyond)
		}
		seg := set.floor(r.next, nil)
		if seg == nil {
			seg = set.oldest()
		}
		p, err := seg.Pin()
		if errors.Is(err, segment.ErrGone) {
			if err = r.lost(); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		pos, err := p.Find(r.next)
		if err == io.EOF {
			pos, err = p.Size(), nil
		}
		p.Release()
		r.seg, r.pos, r.low = seg, pos, seg.Base()
		return err
	}
}

// advance goes on to the segment after seg, if there is one and seg is read to
// its end.
func (r *reader) advance() bool {
	set := r.l.set.Load()
	if set.floor(r.seg.Base(), nil) != r.seg {
		r.seg = nil // it left, and what took its place may hold more: look next up again
		return true
	}
	next := set.after(r.seg.Base())
	if next == nil {
		return false
	}
	if r.pos < r.seg.Size() {
		return true // appended to before the next one was begun
	}
	r.seg, r.pos, r.low = next, 0, next.Base()
	return true
}

// lost is called when the segment left the log.
func (r *reader) lost() error {
	r.seg = nil
	return r.l.lookAgain()
}

// lookAgain is called by a reader whose segment left the log, before it looks
// its offset up again. Whoever took the segment out may be about to publish the
// set without it, under mu: wait for that. Where that is another process, its
// files are looked at, and if they cannot be the reader must not try for ever.
func (l *Log) lookAgain() error {
	l.mu.Lock()
	//lint:ignore SA2001 waiting is all there is to do
	l.mu.Unlock()
	if l.closed.Load() {
		return ErrClosed
	}
	return l.Refresh(context.Background())
}

// skip goes on behind damage, if the log is readable behind it.
func (r *reader) skip(d *DamageError) bool {
	if d.Next >= 0 && d.NextPosition > 0 && r.seg != nil {
		r.pos, r.low, r.next = d.NextPosition, d.Next, max(r.next, d.Next)
		return true
	}
	next := r.l.set.Load().after(d.Segment)
	if next == nil {
		return false
	}
	r.seg, r.pos, r.low, r.next = next, 0, next.Base(), max(r.next, next.Base())
	return true
}

// records walks the records that the level shows; where they end it asks wait,
// which returns nil when the level's bound has reached want, or the log was cut
// below next.
func (l *Log) records(level Isolation, offset int64, wait func(next, want int64) error) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		r := reader{l: l, next: offset}
		var packed []byte // compressed batches are read into it
		for {
			from := r.next
			b, buf, err := r.batchBelow(level, packed)
			packed = nil
			if err == nil {
				if b.Codec() != record.None {
					packed = buf
				}
				hidden := b.Control() || level == ReadCommitted && b.Transactional() && l.isAborted(&b.BatchHeader)
				if !hidden && !r.yield(b, from, yield) {
					return
				}
				continue
			}
			if err == io.EOF {
				if err = wait(from, max(from+1, b.NextOffset())); err == nil {
					continue
				}
				if err == io.EOF {
					return
				}
			}
			var damage *DamageError
			if !yield(record.Record{}, err) || !errors.As(err, &damage) || !r.skip(damage) {
				return
			}
		}
	}
}

// batchBelow is batch for batches that end at or below the level's bound. With
// io.EOF comes the header of the one that does not, or none.
func (r *reader) batchBelow(level Isolation, buf []byte) (b record.Batch, _ []byte, err error) {
	if level == UpToEnd {
		b, buf, err = r.batch(buf)
		if err == io.EOF {
			b = record.Batch{}
		}
		return b, buf, err
	}
	from, bound := r.next, r.l.bound(level)
	if from >= bound && from <= r.l.End() && from >= r.l.First() && !r.l.closed.Load() {
		return b, buf, io.EOF
	}
	b, buf, err = r.batch(buf)
	if err == nil && b.NextOffset() > bound && bound < r.l.End() {
		r.seg, r.next = nil, from
		return b, buf, io.EOF
	}
	if err == io.EOF {
		b = record.Batch{}
	}
	return b, buf, err
}

// yield yields the records at or above from of the batch just read, which own
// their memory: the batch was copied for them, and a decoder is used for one
// batch alone.
func (r *reader) yield(b record.Batch, from int64, yield func(record.Record, error) bool) bool {
	d := record.Decoder{MaxBytes: r.l.opts.MaxBatchBytes}
	for rec, err := range d.Records(b) {
		if err != nil {
			return yield(record.Record{}, r.undecodable(b, err))
		}
		if rec.Offset < from {
			continue
		}
		if len(rec.Headers) > 0 {
			rec.Headers = slices.Clone(rec.Headers)
		}
		if !yield(rec, nil) {
			return false
		}
	}
	return true
}

// undecodable is the error of the batch just read, whose checksum holds and
// whose records are none: damage that was there when it was written.
func (r *reader) undecodable(b record.Batch, err error) error {
	return &DamageError{Path: r.seg.Path(), Segment: r.seg.Base(), Position: r.pos - int64(b.Size),
		Offset: b.BaseOffset, Next: b.NextOffset(), NextPosition: r.pos, Err: err}
}
