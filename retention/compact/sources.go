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

// sources are the segments a round reads, numbered from 0, as one goroutine sees
// them. Those whose keys are looked at stay pinned, so that a look costs no
// mapping.
type sources struct {
	segments []*segment.Segment
	pins     map[int]segment.Pin
}

// maxPinned bounds the mappings, of which a process has only so many.
const maxPinned = 1024 / maxWorkers

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

// walk gives out the batches of a segment from the one that holds offset from
// on, or comes after it, verified and in order, and returns when all is done
// with them: until then their memory is the mapping's.
func (c *cleaner) walk(ctx context.Context, number int, from int64) (err error) {
	seg := c.Segments[number]
	p, err := seg.Pin()
	if err != nil {
		return err
	}
	defer p.Release()
	defer func() {
		if earlier := c.jobs.Drain(); earlier != nil {
			err = earlier
		}
	}()
	position, next := int64(0), seg.Base()
	if from > seg.Base() {
		if position, next, err = p.Find(from); err != nil && err != io.EOF {
			return err
		} else if err == io.EOF {
			return nil
		}
	}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.full {
			return errFull
		}
		data, after, err := p.Run(position, next, chunkBytes, math.MaxInt64)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		j, err := c.jobs.Next()
		if err != nil {
			return err
		}
		j.reset(number)
		if err := j.fill(data, position); err != nil {
			return err
		}
		if err := c.main.each(j, c.judgeTxn); err != nil {
			return err
		}
		c.jobs.Go()
		next, position = after, position+int64(len(data))
	}
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
