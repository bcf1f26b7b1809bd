package segment

import (
	"io"
	"iter"
	"log/slog"
	"runtime"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/record"
)

// View is a run of whole, verified batches in the engine's own mapped memory.
//
// Its bytes are the engine's until Release and must be neither changed nor
// kept. They stay valid whatever the log does meanwhile, Close included;
// holding a View keeps that memory, and the disk space of a segment dropped
// since, from being given back. Who cuts the file without knowing of the View,
// somebody outside or a Log opened on the directory after that Close, takes
// its bytes away: touching them then faults. A View is for one goroutine at a
// time.
type View struct {
	pin     Pin
	data    []byte
	next    int64
	cleanup runtime.Cleanup
}

// View is Run with a pin of its own, released by the View's Release.
func (p Pin) View(position, next, maxBytes, bound int64) (*View, error) {
	data, last, err := p.Run(position, next, maxBytes, bound)
	if err != nil {
		return nil, err
	}
	if invariants.Enabled { // so that Release can poison what it gave out
		data = append([]byte(nil), data...)
	}
	v := &View{data: data, next: last}
	v.pin = p
	p.r.acquire() // cannot fail: p holds one
	v.cleanup = runtime.AddCleanup(v, reportLeak, leak{p.s.cfg.Logger, p.s.Path()})
	return v, nil
}

type leak struct {
	logger *slog.Logger
	path   string
}

// reportLeak says that a View was dropped without Release. Its memory is not
// unmapped: whoever forgot to release it may have kept its bytes.
func reportLeak(l leak) {
	l.logger.Error("segment: a View was dropped without Release; its memory stays mapped", "file", l.path)
}

// Bytes is the encoded batches, back to back.
func (v *View) Bytes() []byte { return v.data }

// Next is the offset after the last batch.
func (v *View) Next() int64 { return v.next }

// Batches walks the batches, which alias the View's memory.
func (v *View) Batches() iter.Seq[record.Batch] {
	return func(yield func(record.Batch) bool) {
		for rest := v.data; len(rest) > 0; {
			b, err := record.Verified(rest)
			if err != nil || !yield(b) {
				return
			}
			rest = rest[b.Size:]
		}
	}
}

// WriteTo writes the encoded batches to w, which must not keep them.
func (v *View) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(v.data)
	return int64(n), err
}

// Release gives the memory back. Further calls do nothing.
func (v *View) Release() {
	if v.pin.r == nil {
		return
	}
	v.cleanup.Stop()
	invariants.Poison(v.data)
	pin := v.pin
	v.pin, v.data = Pin{}, nil
	pin.Release()
}
