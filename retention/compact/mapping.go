package compact

import (
	"context"
	"errors"
	"fmt"

	"github.com/seglog/seglog/record"
)

// errFull ends the first pass.
var errFull = errors.New("compact: the map is full")

// mapKeys is the first pass: it maps the keys of the dirty part, as far as they
// fit, and sets mapped to the end of the last batch that fits whole.
func (c *cleaner) mapKeys(ctx context.Context) error {
	c.newest = newKeyMap(c.Options.MapBytes, c.End-c.FirstDirty)
	c.txns = newTxns(c.Aborted, c.FirstDirty, make(map[int64]bool))
	c.mapped = c.FirstDirty
	for i, s := range c.sources.segments {
		end := c.End
		if i+1 < len(c.sources.segments) {
			end = c.sources.segments[i+1].Base()
		}
		if end <= c.FirstDirty {
			continue
		}
		err := c.sources.batches(ctx, i, c.FirstDirty, func(b record.Batch, position int64) error {
			if err := c.mapBatch(i, b, position); err != nil {
				return err
			}
			c.mapped = max(c.mapped, b.NextOffset())
			return nil
		})
		if err == errFull {
			break
		}
		if err != nil {
			return fmt.Errorf("mapping segment %d: %w", s.Base(), err)
		}
		c.mapped = end // offsets without a batch have no key
	}
	if c.mapped == c.FirstDirty && c.End > c.FirstDirty {
		return fmt.Errorf("%w: it has %d bytes", ErrMapTooSmall, c.Options.MapBytes)
	}
	return c.keys.seal()
}

func (c *cleaner) mapBatch(number int, b record.Batch, position int64) error {
	c.tally.read += int64(b.Size)
	if !b.Control() && c.txns.data(&b.BatchHeader) {
		return nil
	}
	if _, err := c.read(b); err != nil {
		return err
	}
	if b.Control() {
		_, _, err := c.txns.control(&b.BatchHeader, c.controlKey())
		return err
	}
	position += record.HeaderSize
	return c.windows(func(records []record.Raw, hashes []uint64) (err error) {
		for i := range records {
			r := &records[i]
			offset := b.BaseOffset + int64(r.OffsetDelta)
			if r.Key == nil || offset < c.FirstDirty {
				continue
			}
			p := inSegment(number, position+int64(r.At))
			if b.Codec() != record.None {
				if p, err = c.keys.add(r.Key); err != nil {
					return err
				}
			}
			if !c.newest.put(hashes[i], offset, p) {
				return errFull
			}
		}
		return nil
	})
}
