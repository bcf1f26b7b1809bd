package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// sources are the segments a round reads, numbered from 0. Those whose keys are
// looked at stay pinned, so that a look costs no mapping.
type sources struct {
	segments []*segment.Segment
	pins     map[int]segment.Pin
}

// maxPinned bounds the mappings, of which a process has only so many.
const maxPinned = 1024

// chunkBytes is how much is verified at a time.
const chunkBytes = 1 << 20

func newSources(segments []*segment.Segment) *sources {
	return &sources{segments: segments, pins: make(map[int]segment.Pin)}
}

// log is the memory of a segment's log, valid until the next call.
func (s *sources) log(number int) ([]byte, error) {
	p, ok := s.pins[number]
	if !ok {
		if len(s.pins) >= maxPinned {
			s.release()
		}
		var err error
		if p, err = s.segments[number].Pin(); err != nil {
			return nil, err
		}
		s.pins[number] = p
	}
	return p.Bytes(), nil
}

func (s *sources) release() {
	for _, p := range s.pins {
		p.Release()
	}
	clear(s.pins)
}

// batches calls each with the batches of a segment from the one that holds
// offset from on, or comes after it, verified and in order, with its position.
// The batch is the mapping's memory; each is called guarded, and ends the walk
// with an error.
func (s *sources) batches(ctx context.Context, number int, from int64, each func(b record.Batch, position int64) error) error {
	seg := s.segments[number]
	p, err := seg.Pin()
	if err != nil {
		return err
	}
	defer p.Release()
	position := int64(0)
	if from > seg.Base() {
		if position, err = p.Find(from); err != nil && err != io.EOF {
			return err
		} else if err == io.EOF {
			return nil
		}
	}
	for next := seg.Base(); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		data, after, err := p.Run(position, next, chunkBytes, math.MaxInt64)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = eachOf(seg, data, position, each)
		}
		if err != nil {
			return err
		}
		next, position = after, position+int64(len(data))
	}
}

// eachOf walks verified batches.
func eachOf(seg *segment.Segment, data []byte, position int64, each func(b record.Batch, position int64) error) (err error) {
	at := int64(-1) // the batch's first offset
	defer func() { err = damage(seg, position, at, err) }()
	defer vfs.Unguard(vfs.Guard(), &err)
	for len(data) > 0 {
		b, err := record.Verified(data)
		if err != nil {
			return err
		}
		at = b.BaseOffset
		if err := each(b, position); err != nil {
			return err
		}
		data, position = data[b.Size:], position+int64(b.Size)
	}
	return nil
}

// damage makes an error of the bytes of a batch say where they are.
func damage(seg *segment.Segment, position, offset int64, err error) error {
	var known *segment.DamageError
	switch {
	case errors.Is(err, vfs.ErrFault):
		err = fmt.Errorf("%w: %w", record.ErrCorrupt, err)
	case !errors.Is(err, record.ErrCorrupt) || errors.As(err, &known):
		return err
	}
	return &segment.DamageError{Path: seg.Path(), Segment: seg.Base(), Position: position, Offset: offset, Next: -1, Err: err}
}
