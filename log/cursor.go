package log

import (
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/seglog/seglog/record"
)

// Cursor reads a log's records one by one, as From does, for who comes back for
// more: it keeps its place, which From looks up. It holds nothing of the log but
// that. It is for one goroutine at a time.
type Cursor struct {
	level Isolation
	r     reader
	m     memory
	d     record.Decoder
	from  int64 // of the batch that d is in, what is below is not wanted
	stuck bool  // where the last error came from is not gone on behind
}

// Cursor returns a cursor that begins at offset, about which Next tells.
func (l *Log) Cursor(offset int64) *Cursor { return l.Isolated(UpToEnd).Cursor(offset) }

// Cursor is [Log.Cursor].
func (i Isolated) Cursor(offset int64) *Cursor { return i.l.cursor(i.level, offset) }

func (l *Log) cursor(level Isolation, offset int64) *Cursor {
	return &Cursor{level: level, r: reader{l: l, place: place{next: offset}}, d: record.Decoder{MaxBytes: l.opts.MaxBatchBytes}}
}

// Next reads the next record into *rec, or says io.EOF where there is none yet.
// The record is the caller's, as From has it; of errors, too, From tells. Behind
// a *DamageError it goes on; after any other, and where nothing is readable behind
// the damage, it tries again what failed. After an error *rec is zero.
func (c *Cursor) Next(rec *record.Record) error {
	for {
		more, err := c.d.Next(rec)
		switch {
		case err != nil:
			c.d = record.Decoder{MaxBytes: c.d.MaxBytes}
			*rec, c.stuck = record.Record{}, false
			return c.r.undecodable(c.from, err)
		case !more:
			if err := c.batch(); err != nil {
				*rec = record.Record{}
				return err
			}
		case rec.Offset >= c.from:
			if len(rec.Headers) > 0 {
				rec.Headers = slices.Clone(rec.Headers)
			}
			return nil
		}
	}
}

// batch reads the next batch and has d begin it.
func (c *Cursor) batch() error {
	c.from = c.r.next
	h, buf, err := c.r.batch(c.level, c.m.room())
	if err != nil {
		var damage *DamageError
		c.stuck = err != io.EOF && !(errors.As(err, &damage) && c.r.skip(damage))
		return err
	}
	plain := c.r.b.Codec() == record.None
	if c.m.took(buf, plain); !plain {
		c.d = record.Decoder{MaxBytes: c.d.MaxBytes} // the records of the last batch keep its buffer
	}
	if !h.hides(&c.r.b.BatchHeader) {
		_ = c.d.Reset(c.r.b) // its error is the next Next's
	}
	return nil
}

// records walks the records that the level shows; where they end it asks wait,
// which returns nil when the level's bound has reached want, or the log was cut
// below next.
func (l *Log) records(level Isolation, offset int64, wait func(next, want int64) error) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		c := l.cursor(level, offset)
		var rec record.Record
		for {
			err := c.Next(&rec)
			if err == io.EOF {
				if err = wait(c.r.next, max(c.r.next+1, c.r.b.NextOffset())); err == nil {
					continue
				}
				if err == io.EOF {
					return
				}
				c.stuck = true
			}
			if !yield(rec, err) || err != nil && c.stuck {
				return
			}
		}
	}
}

// memory is what batches are read into whose records the caller keeps: small ones
// share a block, so that not each of them is an allocation of its own. One that is
// compressed is only read there to be decompressed elsewhere, and the next one
// comes over it.
//
// The first two batches, often all there are, have memory of their own; then the
// blocks double.
type memory struct {
	free  []byte
	block int // the size of the last one
	asked int // how often for room
}

// The largest block is small, since one record that is kept keeps all of it.
const firstBlock, lastBlock = 1 << 10, 8 << 10

func (m *memory) room() []byte {
	if m.asked++; m.asked > 2 && cap(m.free) <= m.block/16 {
		m.block = min(max(2*m.block, firstBlock), lastBlock)
		m.free = make([]byte, 0, m.block)
	}
	return m.free
}

// took says that a batch is in buf, which is room, or memory of its own where that
// was too small; keep that its records are there.
func (m *memory) took(buf []byte, keep bool) {
	switch {
	case !keep:
		m.free = buf[:0]
	case len(buf) <= cap(m.free):
		m.free = m.free[len(buf):len(buf):cap(m.free)]
	case len(buf) <= lastBlock/16:
		m.free = nil // what is left is for no batch like this one
	}
}
