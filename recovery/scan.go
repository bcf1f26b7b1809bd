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
	endsClean   ending = iota // the end of the file
	endsZero                  // nothing but zeros up to it
	endsTorn                  // something that is no whole valid batch
	endsDropped               // a batch that was being dropped
)

// scanned is a segment's log as far as it is whole.
type scanned struct {
	facts   segment.Facts // without what is taken out
	excised int64         // bytes before the end of facts that are taken out
	intact  int64         // excised > 0: the bytes before the first of them
	later   []int64       // bases of the segments behind it, which it must not reach into
	limited bool          // batches that pass limit are not to be there
	limit   int64

	ending  ending
	err     error // endsTorn: why
	fileEnd int64
	// resume is the position in the file of the next whole batch behind a torn
	// end, and resumeAt its offset; -1 where there is none.
	resume   int64
	resumeAt int64
	batches  int64
	bytes    int64 // looked at
}

// scanLog verifies the batches of a log file behind those of from, whose
// facts.Next is the first offset to expect there.
func scanLog(ctx context.Context, fs vfs.FS, name string, from scanned) (s scanned, err error) {
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
	s = from
	s.ending, s.err, s.batches, s.bytes = endsClean, nil, 0, 0
	s.fileEnd, s.resume, s.resumeAt = size, -1, -1
	if size <= s.facts.Size+s.excised {
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
	s.bytes = int64(len(log)) - f.Size - s.excised
	for pos := f.Size + s.excised; pos < int64(len(log)); pos = f.Size + s.excised {
		if s.batches%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := record.Parse(log[pos:])
		if errors.Is(err, record.ErrUnsupportedMagic) {
			if wholeOldMessage(log[pos:]) {
				return fmt.Errorf("%s at position %d: %w", name, pos, err)
			}
			err = fmt.Errorf("%w: a magic of message format 0 or 1, and no whole message", record.ErrCorrupt)
		}
		if err == nil {
			err = s.checkOffsets(b.BatchHeader, log[pos+int64(b.Size):])
		}
		if err != nil {
			s.classify(log, err)
			return nil
		}
		if s.limited && b.NextOffset() > s.limit {
			s.ending = endsDropped
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

// checkOffsets looks at a batch's offsets, of which no checksum covers the base;
// behind is what follows the batch.
func (s *scanned) checkOffsets(h record.BatchHeader, behind []byte) error {
	f := &s.facts
	if h.BaseOffset > f.Next {
		// A gap, as compaction leaves, or a base offset that was raised: then it
		// reaches into the batch behind it.
		if b, err := record.Parse(behind); err == nil && f.Next <= b.BaseOffset && b.BaseOffset < h.NextOffset() {
			return fmt.Errorf("%w: base offset %d, but the batch behind it has %d", record.ErrCorrupt, h.BaseOffset, b.BaseOffset)
		}
	}
	switch {
	case h.BaseOffset < f.Next:
		return fmt.Errorf("%w: base offset %d, want at least %d", record.ErrCorrupt, h.BaseOffset, f.Next)
	case len(s.later) > 0 && h.LastOffset() >= s.later[0]:
		return fmt.Errorf("%w: last offset %d, but the next segment begins at %d", record.ErrCorrupt, h.LastOffset(), s.later[0])
	case h.LastOffset()-f.Base > math.MaxInt32:
		return fmt.Errorf("%w: last offset %d is out of reach of segment %d", record.ErrCorrupt, h.LastOffset(), f.Base)
	}
	return nil
}

// classify looks at what stands where the whole batches end.
func (s *scanned) classify(log []byte, err error) {
	pos := s.facts.Size + s.excised
	if lastNonZero(log[pos:]) == 0 {
		s.ending = endsZero
		return
	}
	s.ending, s.err = endsTorn, err
	if errors.Is(err, record.ErrShort) {
		s.err = fmt.Errorf("%w: the batch ends behind the file", record.ErrCorrupt)
	}
	if b, at, ok := segment.Resync(log, pos, s.facts.Next); ok {
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
	s, err := scanLog(ctx, cfg.FS, filepath.Join(cfg.Dir, segment.Name(f.Base, segment.LogSuffix)), scanned{facts: f})
	return s.facts, err
}
