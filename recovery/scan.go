package recovery

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

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
	tell    func(bytes int64)
	// tornFrom is the position from which on a power cut may have torn batches; 0
	// where none can have.
	tornFrom int64
	limited  bool // batches that pass limit are not to be there
	limit    int64

	ending  ending
	err     error // endsTorn: why
	fileEnd int64
	// resume is the position in the file of the next whole batch behind a torn
	// end, and resumeAt its offset; -1 where there is none.
	resume   int64
	resumeAt int64
	// unfinished says that a torn end is a batch that was being copied.
	unfinished bool
	// short says that the batch there ends behind the file.
	short bool
	// givenEnd and indexedEnd are offsets that were given out behind the end, by
	// what is left of the batch there and by the index; 0 where they tell nothing.
	givenEnd, indexedEnd int64
	// lost is damage behind which nothing can be read; its Next is where the
	// segment ended.
	lost    *segment.DamageError
	batches int64
	bytes   int64 // looked at
}

// scanLog verifies the batches of a log file behind those of from, whose
// facts.Next is the first offset to expect there.
func scanLog(ctx context.Context, fs vfs.FS, name string, from scanned) (s scanned, err error) {
	file, err := fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return s, err
	}
	defer file.Close()
	size, err := file.Size()
	for err == nil {
		s, err = scanFile(ctx, file, size, from)
		cut := errors.Is(err, vfs.ErrFault)
		if !cut && (err != nil || !s.short) {
			break
		}
		// The process that writes here has ended the segment, and cut its file to
		// what it holds, while we were reading what is behind that; or the file has
		// grown, and a batch ends behind what we knew of it. Look again.
		now, sizeErr := file.Size()
		switch {
		case sizeErr == nil && (cut && now < size || !cut && now > size):
			size, err = now, nil
		case cut || sizeErr != nil:
			err = errors.Join(fmt.Errorf("%s: %w", name, err), sizeErr)
		default:
			return s, nil
		}
	}
	return s, err
}

// scanFile scans a file of that size.
func scanFile(ctx context.Context, file vfs.File, size int64, from scanned) (s scanned, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	name := file.Name()
	s = from
	s.ending, s.err, s.batches, s.bytes, s.unfinished, s.short = endsClean, nil, 0, 0, false, false
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

// tellBytes is how much is verified before the next word of it.
const tellBytes = 4 << 20

func (s *scanned) walk(ctx context.Context, name string, log []byte) error {
	f := &s.facts
	s.bytes = int64(len(log)) - f.Size - s.excised
	ahead := readAhead(log, f.Size+s.excised, false)
	defer ahead.close()
	told := f.Size + s.excised
	tell := func(pos, least int64) {
		if s.tell != nil && pos-told >= least {
			s.tell(pos - told)
			told = pos
		}
	}
	defer func() { tell(f.Size+s.excised, 1) }()
	for pos := f.Size + s.excised; pos < int64(len(log)); pos = f.Size + s.excised {
		if s.batches%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		tell(pos, tellBytes)
		ahead.batch(pos)
		b, bad, err := s.batch(log, pos)
		if errors.Is(err, record.ErrUnsupportedMagic) {
			return fmt.Errorf("%s at position %d: %w", name, pos, err)
		}
		if err != nil {
			ended := *s
			ended.classify(log, bad, err)
			// A process that appends goes on meanwhile: what was being copied is whole
			// by the time that others follow, so it is looked at again behind them.
			if b, _, err = s.batch(log, pos); err != nil {
				*s = ended
				return nil
			}
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

// batch is the batch at a position in the file. With an error comes the position
// behind which to look for others.
func (s *scanned) batch(log []byte, pos int64) (b record.Batch, bad int64, err error) {
	b, err = record.Parse(log[pos:])
	if errors.Is(err, record.ErrUnsupportedMagic) && !wholeOldMessage(log[pos:]) {
		err = fmt.Errorf("%w: a magic of message format 0 or 1, and no whole message", record.ErrCorrupt)
	}
	if err != nil {
		return b, pos, err
	}
	bad, err = segment.CheckOrder(log, &b.BatchHeader, pos, s.facts.Next, s.reach())
	if after := pos + int64(b.Size); err != nil && s.tornFrom > 0 && after >= s.tornFrom && b.BaseOffset > s.facts.Next && b.NextOffset() <= s.reach() && tornOffset(log, after) {
		err = nil // it is the batch behind that contradicts, and that one is torn
	}
	return b, bad, err
}

// reach is the offset that the segment must end at, at the latest.
func (s *scanned) reach() int64 {
	end := s.facts.Base + math.MaxInt32 + 1
	if len(s.later) > 0 {
		end = min(end, s.later[0])
	}
	return end
}

// tornOffset says whether the base offset of the batch at a position can be what
// a power cut left of a larger one: some of it, or all, is in another sector than
// the rest of the batch, and nothing is there. Of the length behind it there may
// be zeros in that sector, too.
func tornOffset(log []byte, position int64) bool {
	const offsetAndLength = 12
	first := sectorSize - position%sectorSize // bytes of the batch in the first sector
	return first < offsetAndLength && segment.DataEnd(log[position:position+first]) == 0
}

// sectorSize is what devices keep whole.
const sectorSize = 512

// classify looks at what stands where the whole batches end; what can be read
// again is behind the batch at bad.
func (s *scanned) classify(log []byte, bad int64, err error) {
	pos, f := s.facts.Size+s.excised, &s.facts
	// First: it would soon be a batch that others follow.
	s.unfinished = isUnfinished(log, pos)
	if segment.DataEnd(log[pos:]) == 0 {
		s.ending = endsZero
		return
	}
	s.ending, s.err = endsTorn, err
	if s.short = errors.Is(err, record.ErrShort); s.short {
		s.err = fmt.Errorf("%w: the batch ends behind the file", record.ErrCorrupt)
	}
	if b, at, ok := segment.Resync(log, bad, f.Next, s.reach()); ok {
		s.resume, s.resumeAt = at, b.BaseOffset
	}
	s.givenEnd = f.Next + given(log[pos:])
}

// given is how many offsets the damaged batch at the start of b was given: at
// least one, and more where what is left of its header can be true.
func given(b []byte) int64 {
	const deltaAt, countAt, least = 23, 57, 7 // a record has that many bytes
	if len(b) < record.HeaderSize {
		return 1
	}
	offsets, records := int64(int32(binary.BigEndian.Uint32(b[deltaAt:])))+1, int64(int32(binary.BigEndian.Uint32(b[countAt:])))
	room := int64(len(b)-record.HeaderSize) / least
	switch more, fewer := max(offsets, records), min(offsets, records); {
	case fewer > 0 && (more <= room || more == fewer):
		return more
	case fewer > 0 && fewer <= room:
		return fewer
	}
	return 1
}

// lostEnd is the offset up to which offsets were given out, as far as anything
// tells, of a segment that the checkpoint knew so.
func (s *scanned) lostEnd(known segment.Facts) int64 {
	return max(s.facts.Next, s.givenEnd, s.indexedEnd, known.Next)
}

// Extend verifies what was appended to a segment since those facts and returns
// the facts as they are now. Bytes that are no whole batch yet end the look;
// damaged ones, which others follow, are passed over, for who reads to meet.
func Extend(ctx context.Context, cfg *segment.Config, f segment.Facts) (segment.Facts, error) {
	in := inspector{ctx: ctx, cfg: cfg, r: new(Report)}
	name := segment.Name(f.Base, segment.LogSuffix)
	in.files = listing{name: name}
	s := scanned{facts: f}
	err := in.goOn(&s, s)
	for err == nil && s.ending == endsTorn && s.resume >= 0 && !s.unfinished {
		err = in.passOver(&s)
	}
	return s.facts, err
}
