package log

import (
	"errors"
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
	r := reader{l: l, next: offset}
	for {
		if r.seg == nil {
			if err := r.seek(); err != nil {
				return nil, err
			}
		}
		p, err := r.seg.Pin()
		if errors.Is(err, segment.ErrGone) {
			if err = r.lost(); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		v, err := p.View(r.pos, r.low, maxBytes, l.bound(level))
		read := r.pos >= p.Size() // or the level's bound ends it
		p.Release()
		if err == io.EOF && read && r.advance() {
			continue
		}
		return v, err
	}
}
