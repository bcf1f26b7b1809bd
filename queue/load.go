package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/seglog/seglog/record"
)

// load reads the consumers' places.
func (q *Queue) load(ctx context.Context) error {
	blocks := make(map[string]map[int64][]byte)
	for r, err := range q.places.From(q.places.First()) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("queue: consumer state: %w", err)
		}
		name, block, isBlock, err := parseKey(r.Key)
		if err != nil {
			return err
		}
		if !isBlock {
			p, err := parsePlace(r.Value)
			switch {
			case r.Value == nil: // forgotten
				delete(q.mu.consumers, name)
			case err != nil:
				return err
			default:
				q.mu.consumers[name] = newConsumer(q, name, p)
			}
			continue
		}
		if blocks[name] == nil {
			blocks[name] = make(map[int64][]byte)
		}
		if blocks[name][block] = r.Value; r.Value == nil {
			delete(blocks[name], block)
		}
	}
	var cut []record.Record
	for name, c := range q.mu.consumers {
		for block, value := range blocks[name] {
			done, attempts, err := parseBlock(block, value)
			if err != nil {
				return err
			}
			c.written[block] = true
			for _, s := range done {
				c.done.add(s.from, s.to)
			}
			for _, a := range attempts {
				c.past[a.offset] = a
			}
		}
		cut = append(cut, c.settleIn(q.log.First(), q.log.End())...)
	}
	if len(cut) == 0 {
		return nil
	}
	if _, err := q.places.Append(cut...); err != nil {
		return err
	}
	return q.places.Sync(ctx)
}

// settleIn fits a place that was read to the messages that are there. A loss of
// power may have taken messages and left what was done of them: messages pushed
// now get their offsets, and must not be taken for done, whatever happens later;
// the records returned say so.
func (c *consumer) settleIn(first, end int64) (cut []record.Record) {
	lost := c.floor > end
	for block := range c.written {
		if part := c.done.within(max(block*blockSize, end), (block+1)*blockSize); len(part) > 0 {
			lost = true
		}
	}
	if lost {
		c.floor = min(c.floor, end)
		c.reach = min(c.reach, end)
		c.done.beyond(end)
	}
	c.done.below(c.floor)
	c.floor = c.done.after(c.floor)
	c.done.below(c.floor)
	for offset := range c.past {
		if offset < c.floor || offset >= end || c.done.has(offset) {
			delete(c.past, offset)
		}
	}
	// What was below the reach may have been delivered once more than was noted.
	for offset := c.done.after(max(c.floor, first)); offset < min(c.reach, end); offset = c.done.after(offset + 1) {
		if _, known := c.past[offset]; !known {
			c.past[offset] = attempt{offset: offset, deliveries: 1}
		}
	}
	for offset := range c.past {
		c.countLocked(offset)
	}
	c.next = c.floor
	if !lost {
		return nil
	}
	now := c.q.opts.Env.Now()
	cut = append(cut, c.place.record(c.name, now))
	for block := range c.written {
		cut = append(cut, c.blockLocked(block, span{}, now))
	}
	return cut
}

// saveReach notes exactly what was delivered, so that a clean close counts
// nothing twice.
func (q *Queue) saveReach() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var errs []error
	for _, c := range q.mu.consumers {
		c.mu.Lock()
		now := c.q.opts.Env.Now()
		c.reach = c.floor
		records := []record.Record{c.place.record(c.name, now)}
		for block := range c.delivered {
			records = append(records, c.blockLocked(block, span{}, now))
		}
		errs = append(errs, c.writeLocked(records...))
		c.mu.Unlock()
	}
	return errors.Join(errs...)
}
