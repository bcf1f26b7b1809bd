package log

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// reader walks the batches of a log from an offset on. It holds no memory of
// the log between two batches: each is copied under a pin of its own, so a slow
// consumer keeps no segment from being dropped.
type reader struct {
	l *Log
	place
	b  record.Batch // the one read last
	re rereader
}

// place is where a reader is.
type place struct {
	seg  *segment.Segment // nil: to be looked up by next
	pos  int64            // in seg, of the next batch
	low  int64            // no batch at pos starts below it
	next int64            // the first offset not yet returned
}

// batch reads the next batch that the level shows whose last offset is at or
// above next, copied to buf where it fits. With io.EOF, which says that there
// is none yet, b is the one that reaches beyond the level's bound, or none.
//
// What it reads was in the log at the moment of h.
func (r *reader) batch(level Isolation, buf []byte) (h horizon, _ []byte, err error) {
	for {
		h = r.l.horizon(level)
		if r.next == h.bound && r.next >= r.l.First() && !r.l.closed.Load() {
			r.b = record.Batch{}
			return h, buf, io.EOF
		}
		before := r.place
		buf, err = r.read(buf)
		invariants.Pause("read a batch")
		if !r.l.holds(h) {
			r.seg, r.next = nil, before.next
			continue
		}
		if err == nil && r.next > h.bound {
			r.place, err = before, io.EOF
		}
		return h, buf, err
	}
}

// read is batch without a bound. Without a batch b is none.
func (r *reader) read(buf []byte) (_ []byte, err error) {
	for {
		p, err := r.pin()
		if err != nil {
			r.b = record.Batch{}
			return buf, err
		}
		if r.next < r.l.First() {
			p.Release()
			r.b = record.Batch{}
			return buf, r.l.offsetError(r.next, ErrTrimmed)
		}
		buf, err = p.Read(&r.b, r.pos, r.low, buf)
		p.Release()
		switch {
		case err == io.EOF:
			if !r.advance() {
				return buf, io.EOF
			}
		case r.re.again(r.l, err):
			r.seg = nil
		case err != nil:
			if r.past(err) {
				continue
			}
			return buf, r.unreadable(err)
		default:
			r.pos += int64(r.b.Size)
			if r.low = r.b.NextOffset(); r.low > r.next {
				r.next = r.low
				return buf, nil
			}
		}
	}
}

// past goes on behind damage that ends at or below next: this reader misses
// nothing of it.
func (r *reader) past(err error) bool {
	var d *DamageError
	if !errors.As(err, &d) || d.Next < 0 || d.Next > r.next || d.NextPosition <= r.pos {
		return false
	}
	r.pos, r.low = d.NextPosition, d.Next
	return true
}

// unreadable makes a DamageError, which knows where the bad batch may begin at
// the earliest, tell the first offset that this reader misses.
func (r *reader) unreadable(err error) error {
	var d *DamageError
	if errors.As(err, &d) {
		d.Offset = max(d.Offset, r.next)
		if d.Next >= 0 {
			d.Next = max(d.Next, d.Offset)
		}
	}
	return err
}

// pin is the segment that pos is in, which the caller releases.
func (r *reader) pin() (p segment.Pin, err error) {
	for {
		if r.seg == nil {
			p, err = r.seek()
		} else if p, err = r.seg.Pin(); errors.Is(err, segment.ErrGone) {
			if err = r.lost(); err == nil {
				continue
			}
		}
		if err == nil {
			return p, nil
		}
		if !r.re.again(r.l, err) {
			return p, r.unreadable(err)
		}
		r.seg = nil
	}
}

// seek finds the segment and the position for next, and pins it.
func (r *reader) seek() (p segment.Pin, err error) {
	for {
		if r.l.closed.Load() {
			return p, ErrClosed
		}
		set := r.l.set.Load() // before First, which is raised first
		invariants.Pause("loaded the set")
		switch {
		case r.next < r.l.First():
			return p, r.l.offsetError(r.next, ErrTrimmed)
		case r.next > r.l.End():
			return p, r.l.offsetError(r.next, ErrBeyond)
		}
		seg := set.floor(r.next, nil)
		if seg == nil {
			seg = set.oldest()
		}
		p, err = seg.Pin()
		if errors.Is(err, segment.ErrGone) {
			if err = r.lost(); err == nil {
				continue
			}
		}
		if err != nil {
			return p, err
		}
		pos, low, err := p.Find(r.next)
		if err == io.EOF {
			pos, err = p.Size(), nil
		}
		r.seg, r.pos, r.low = seg, pos, low
		if err != nil {
			p.Release()
		}
		return p, err
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
// set without it, exchanging files or under mu: wait for that. If that failed in
// the middle the set stays as it is, and the reader must not try for ever. Where
// it is another process, its files are looked at.
func (l *Log) lookAgain() error {
	l.exchanging.Lock()
	//lint:ignore SA2001 waiting is all there is to do
	l.exchanging.Unlock()
	l.mu.Lock()
	stuck := l.mu.stuck
	l.mu.Unlock()
	switch {
	case l.closed.Load():
		return ErrClosed
	case stuck != nil:
		return stuck
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

// record makes *rec the record at offset of the batch just read; ok is false if it
// has none.
func (r *reader) record(offset int64, rec *record.Record) (ok bool, err error) {
	d := record.Decoder{MaxBytes: r.l.opts.MaxBatchBytes}
	err = d.Reset(r.b)
	for more := true; err == nil && more; {
		if more, err = d.Next(rec); err == nil && more && rec.Offset == offset {
			rec.Headers = slices.Clone(rec.Headers)
			return true, nil
		}
	}
	if *rec = (record.Record{}); err != nil {
		return false, r.undecodable(offset, err)
	}
	return false, nil
}

// undecodable is the error of the batch just read, whose checksum holds and
// whose records are none: damage that was there when it was written.
func (r *reader) undecodable(from int64, err error) error {
	b := &r.b
	return &DamageError{Path: r.seg.Path(), Segment: r.seg.Base(), Position: r.pos - int64(b.Size),
		Offset: max(b.BaseOffset, from), Next: b.NextOffset(), NextPosition: r.pos, Err: err}
}
