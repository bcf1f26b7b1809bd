package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// ending is what a scan met where the whole batches ended.
type ending int

const (
	endsClean ending = iota // the end of the file
	endsZero                // nothing but zeros up to it
	endsTorn                // something that is no whole valid batch
)

// scanned is a segment's log as far as it is whole.
type scanned struct {
	facts   segment.Facts // Size is where the whole batches end
	ending  ending
	err     error // endsTorn: why
	fileEnd int64
	// resume is the position of the next whole batch behind a torn end, and
	// resumeAt its offset; -1 where there is none.
	resume   int64
	resumeAt int64
	batches  int64
	excised  int64 // bytes before facts.Size that will be cut out
}

// scanLog verifies the batches of a log file from those facts on: f.Size is the
// position to start at and f.Next the first offset to expect there.
func scanLog(ctx context.Context, fs vfs.FS, name string, f segment.Facts) (s scanned, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	file, err := fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return s, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return s, err
	}
	s = scanned{facts: f, fileEnd: size, resume: -1, resumeAt: -1}
	if size <= f.Size {
		return s, nil
	}
	if size > segment.MaxBytes {
		return s, fmt.Errorf("%s has %d bytes; a segment has at most %d", name, size, int64(segment.MaxBytes))
	}
	m, err := file.Map(size, false)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, m.Unmap()) }()
	return s, s.walk(ctx, name, m.Bytes())
}

func (s *scanned) walk(ctx context.Context, name string, log []byte) error {
	f := &s.facts
	for f.Size < int64(len(log)) {
		if s.batches%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := record.Parse(log[f.Size:])
		if errors.Is(err, record.ErrUnsupportedMagic) {
			return fmt.Errorf("%s at position %d: %w", name, f.Size, err)
		}
		if err == nil {
			err = checkOffsets(b.BatchHeader, f)
		}
		if err != nil {
			s.classify(log, err)
			return nil
		}
		s.batches++
		if f.Size == 0 {
			f.FirstTime = b.MaxTimestamp
		}
		if b.MaxTimestamp > f.MaxTime {
			f.MaxTime, f.MaxTimeAt = b.MaxTimestamp, b.LastOffset()
		}
		f.Next, f.Size = b.NextOffset(), f.Size+int64(b.Size)
	}
	return nil
}

func checkOffsets(h record.BatchHeader, f *segment.Facts) error {
	switch {
	case h.BaseOffset < f.Next:
		return fmt.Errorf("%w: base offset %d, want at least %d", record.ErrCorrupt, h.BaseOffset, f.Next)
	case h.LastOffset()-f.Base > math.MaxInt32:
		return fmt.Errorf("%w: last offset %d is out of reach of segment %d", record.ErrCorrupt, h.LastOffset(), f.Base)
	}
	return nil
}

// classify looks at what stands where the whole batches end.
func (s *scanned) classify(log []byte, err error) {
	if end := lastNonZero(log[s.facts.Size:]); end == 0 {
		s.ending = endsZero
		return
	}
	s.ending, s.err = endsTorn, err
	if errors.Is(err, record.ErrShort) {
		s.err = fmt.Errorf("%w: the batch ends behind the file", record.ErrCorrupt)
	}
	if b, at, ok := segment.Resync(log, s.facts.Size, s.facts.Next); ok {
		s.resume, s.resumeAt = at, b.BaseOffset
	}
}

// lastNonZero is the length of b without trailing zeros.
func lastNonZero(b []byte) int {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return len(b)
}

// Extend verifies what was appended to a segment since those facts and returns
// the facts as they are now. Bytes that are no whole batch yet end the look.
func Extend(ctx context.Context, cfg *segment.Config, f segment.Facts) (segment.Facts, error) {
	s, err := scanLog(ctx, cfg.FS, filepath.Join(cfg.Dir, segment.Name(f.Base, segment.LogSuffix)), f)
	return s.facts, err
}
