package log

import (
	"io"

	"github.com/seglog/seglog/segment"
)

// View is a run of whole batches in the engine's mapped memory, valid until
// Release. See [segment.View].
type View = segment.View

// Borrow returns the batches from the one that holds offset on, as many as fit
// maxBytes but at least one, without copying them. The first batch may begin
// below offset. The View must be released; until then it keeps its memory, and
// the disk space of its segment, from being given back.
//
// io.EOF says that offset is End; ErrTrimmed and ErrBeyond that it is outside
// [First, End]. Checksums have been verified; damage behind the first batch
// ends the run before it.
func (l *Log) Borrow(offset int64, maxBytes int64) (*View, error) {
	return l.borrow(UpToEnd, offset, maxBytes)
}

func (l *Log) borrow(level Isolation, offset, maxBytes int64) (*View, error) {
	for {
		h := l.horizon(level)
		v, err := l.borrowBelow(h.bound, offset, maxBytes)
		if l.holds(h) {
			return v, err
		}
		if err == nil {
			v.Release()
		}
	}
}

func (l *Log) borrowBelow(bound, offset, maxBytes int64) (*View, error) {
	r := reader{l: l, place: place{next: offset}}
	for {
		p, err := r.pin()
		if err != nil {
			return nil, err
		}
		v, err := p.View(r.pos, r.low, maxBytes, bound)
		read := r.pos >= p.Size() // or the bound ends it
		p.Release()
		if r.re.again(l, err) {
			r.seg = nil
			continue
		}
		if err == io.EOF && read && r.advance() || err != nil && r.past(err) {
			continue
		}
		if err == nil && v.Next() <= r.next { // behind damage that misled the lookup
			r.pos, r.low = r.pos+int64(len(v.Bytes())), v.Next()
			v.Release()
			continue
		}
		return v, r.unreadable(err)
	}
}
