package queue

import (
	"slices"
	"time"

	"github.com/seglog/seglog/record"
)

// writing is what a consumer's records are put together in.
type writing struct {
	key     []byte // of its place
	value   []byte
	records []record.Record
}

// moveLocked writes a new place, and takes back the records of blocks that are
// below its floor.
func (c *consumer) moveLocked(p place, now time.Time) error {
	w := &c.writing
	w.value = p.append(w.value[:0])
	w.records = append(w.records[:0], record.Record{Time: now, Key: w.key, Value: w.value})
	passed := p.floor/blockSize != c.floor/blockSize
	if passed {
		for _, b := range c.blocks.m {
			if b.written && b.to() <= p.floor {
				w.records = append(w.records, blockRecord(c.name, b.number, nil, nil, now))
			}
		}
	}
	if err := c.writeLocked(); err != nil {
		return err
	}
	if passed {
		for _, b := range c.blocks.m {
			if b.to() <= p.floor {
				b.written = false
				if len(b.delivered) == 0 {
					c.blocks.drop(b)
				}
			}
		}
	}
	c.place = p
	c.done.below(p.floor)
	return nil
}

// writeBlockLocked writes a block, with more taken for done.
func (c *consumer) writeBlockLocked(b *block, more span, now time.Time) error {
	c.writing.records = append(c.writing.records[:0], c.blockLocked(b, more, now))
	b.written = true // also if it is not known whether it was
	return c.writeLocked()
}

// writeLocked appends what is put together.
func (c *consumer) writeLocked() error {
	_, err := c.q.places.Append(c.writing.records...)
	return err
}

// blockLocked is the record of a block, with more taken for done.
func (c *consumer) blockLocked(b *block, more span, now time.Time) record.Record {
	done := c.done.within(b.from(), b.to())
	done.add(more.from, more.to)
	var attempts []attempt
	for _, e := range b.delivered {
		if !done.has(e.offset) {
			a := attempt{offset: e.offset, deliveries: e.deliveries}
			if !e.out {
				a.due = e.at
			}
			attempts = append(attempts, a)
		}
	}
	return blockRecord(c.name, b.number, done, append(attempts, c.pastOf(b)...), now)
}

// pastOf is what was delivered of a block before this opening and not looked at
// yet.
func (c *consumer) pastOf(b *block) []attempt {
	at := func(offset int64) int {
		i, _ := slices.BinarySearchFunc(c.past, attempt{offset: offset}, attempt.compare)
		return i
	}
	return c.past[at(b.from()):at(b.to())]
}
