package compact

import (
	"context"
	"errors"
	"fmt"

	"github.com/seglog/seglog/record"
)

// errFull ends a walk when the map is full.
var errFull = errors.New("compact: the map is full")

// mapKeys maps the keys of the dirty part, as far as they
// fit, and sets mapped to the end of the last batch that fits whole. Workers
// read batches and compute hashes; the map is filled by this goroutine.
func (c *cleaner) mapKeys(ctx context.Context) error {
	c.newest = newKeyMap(c.Options.MapBytes, c.End-c.FirstDirty)
	c.mapped, c.full = c.FirstDirty, false
	c.pass(c.FirstDirty, make(map[int64]bool), (*worker).find, c.mapFound)
	for i, s := range c.Segments {
		end := c.End
		if i+1 < len(c.Segments) {
			end = c.Segments[i+1].Base()
		}
		if end <= c.FirstDirty {
			continue
		}
		err := c.walk(ctx, i, c.FirstDirty)
		if err == errFull || c.full {
			break
		}
		if err != nil {
			return fmt.Errorf("mapping segment %d: %w", s.Base(), err)
		}
		c.mapped = end // offsets without a batch have no key
	}
	return c.keys.seal()
}

// find lists what is to be mapped of a chunk. The places of keys of compressed
// batches count from the chunk's first.
func (w *worker) find(j *chunk) error {
	return w.each(j, func(b *batch) error {
		defer func() { b.found = len(j.found) }()
		if b.aborted || b.Control() {
			return nil
		}
		if _, err := w.read(&b.Batch); err != nil {
			return err
		}
		position, compressed := b.position+record.HeaderSize, b.Codec() != record.None
		for i := range w.records {
			r := &w.records[i]
			offset := b.BaseOffset + int64(r.OffsetDelta)
			if r.Key == nil || offset < w.FirstDirty {
				continue
			}
			p := inSegment(j.number, position+int64(r.At))
			if compressed {
				p = inKeys(int64(len(j.keys)))
				j.keys = appendKey(j.keys, r.Key)
			}
			j.found = append(j.found, slot{hash: w.hash(r.Key), next: offset + 1, place: p})
		}
		return nil
	})
}

// mapFound puts what was found in a chunk into the map.
func (c *cleaner) mapFound(j *chunk) error {
	if c.full {
		return nil // it was under way already
	}
	keys, err := c.keys.add(j.keys)
	if err != nil {
		return err
	}
	from := 0
	for i := range j.batches {
		b := &j.batches[i]
		c.tally.read += int64(b.Size)
		if !c.newest.putAll(j.found[from:b.found], keys) {
			c.full = true
			return nil
		}
		from, c.mapped = b.found, max(c.mapped, b.NextOffset())
	}
	return nil
}
