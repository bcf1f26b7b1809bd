package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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
			c.blocks.of(block * blockSize).written = true
			for _, s := range done {
				c.done.add(s.from, s.to)
			}
			c.past = append(c.past, attempts...)
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
	for _, b := range c.blocks.m {
		if part := c.done.within(max(b.from(), end), b.to()); len(part) > 0 {
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
	known := make(map[int64]attempt)
	for _, a := range c.past {
		if a.offset >= c.floor && a.offset < end && !c.done.has(a.offset) {
			known[a.offset] = a
		}
	}
	// What was below the reach may have been delivered once more than was noted.
	for offset := c.done.after(max(c.floor, first)); offset < min(c.reach, end); offset = c.done.after(offset + 1) {
		if _, ok := known[offset]; !ok {
			known[offset] = attempt{offset: offset, deliveries: 1}
		}
	}
	c.past = slices.SortedFunc(maps.Values(known), attempt.compare)
	c.next = c.floor
	if !lost {
		return nil
	}
	now := c.q.opts.Env.Now()
	cut = append(cut, record.Record{Time: now, Key: c.writing.key, Value: c.place.append(nil)})
	for _, b := range c.blocks.m {
		cut = append(cut, c.blockLocked(b, span{}, now))
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
		records := []record.Record{{Time: now, Key: c.writing.key, Value: c.place.append(nil)}}
		for _, a := range c.past {
			c.blocks.of(a.offset)
		}
		for _, b := range c.blocks.m {
			if len(b.delivered)+len(c.pastOf(b)) > 0 {
				records = append(records, c.blockLocked(b, span{}, now))
			}
		}
		_, err := q.places.Append(records...)
		errs = append(errs, err)
		c.mu.Unlock()
	}
	return errors.Join(errs...)
}
