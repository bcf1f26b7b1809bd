package queue

import (
	"time"

	"github.com/seglog/seglog/record"
)

// ack is Message.Ack but for the sync. One that comes after Visibility and before
// the next delivery still holds.
func (c *consumer) ack(m *Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Offset < c.floor || c.done.has(m.Offset) {
		return nil
	}
	if m.entry.delivery != m.delivery {
		return ErrExpired
	}
	return c.finishLocked(m.entry)
}

// finishLocked makes a message done: first on disk, then here. What it writes need not
// say when more exactly than a message was last asked for: nothing depends on it.
func (c *consumer) finishLocked(e *entry) error {
	now := c.looked
	if e.offset != c.floor {
		if err := c.writeBlockLocked(c.blocks.of(e.offset), span{e.offset, e.offset + 1}, now); err != nil {
			return err
		}
		c.done.add(e.offset, e.offset+1)
		c.dropLocked(e)
		return nil
	}
	p := c.place
	p.floor = c.done.after(e.offset + 1)
	if err := c.moveLocked(p, now); err != nil {
		return err
	}
	c.dropLocked(e)
	c.q.consumed(p.floor)
	return nil
}

// nack is Message.Nack but for the sync.
func (c *consumer) nack(m *Message, delay time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := m.entry
	if e.delivery != m.delivery {
		return ErrExpired
	}
	now, was := c.q.opts.Env.Now(), *e
	e.out, e.at = false, now.Add(delay)
	if err := c.writeBlockLocked(c.blocks.of(e.offset), span{}, now); err != nil {
		e.out, e.at = was.out, was.at
		return err
	}
	take(e)
	e.delivery = 0
	c.timeLocked(e)
	return nil
}

// extend is Message.Extend.
func (c *consumer) extend(m *Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := m.entry
	if e.delivery != m.delivery {
		return ErrExpired
	}
	take(e)
	e.out, e.at = true, c.q.opts.Env.Now().Add(c.q.opts.Visibility)
	put(&c.timed, e)
	return nil
}

// trimLocked counts as dropped what is not done and not there any more.
func (c *consumer) trimLocked(first int64) error {
	if first <= c.floor {
		return nil
	}
	p := c.place
	p.dropped += first - p.floor - c.done.within(p.floor, first).count()
	p.floor = c.done.after(first)
	p.reach = max(p.reach, p.floor)
	if err := c.moveLocked(p, c.q.opts.Env.Now()); err != nil {
		return err
	}
	for _, e := range c.metLocked() {
		if e.offset < p.floor {
			c.dropLocked(e)
		}
	}
	for len(c.past) > 0 && c.past[0].offset < p.floor {
		c.past = c.past[1:]
	}
	if c.next < p.floor {
		c.next, c.cursor = p.floor, nil
	}
	return nil
}

// seek moves the place, and takes back all that is done from there on and all
// that is out.
func (c *consumer) seek(offset int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	offset = min(max(offset, c.q.log.First()), c.q.log.End())
	now := c.q.opts.Env.Now()
	p := place{floor: offset, reach: offset, dropped: c.dropped}
	records := []record.Record{{Time: now, Key: c.writing.key, Value: p.append(nil)}}
	if _, err := c.q.places.Append(append(records, c.takenBackLocked(now)...)...); err != nil {
		return err
	}
	c.place, c.done = p, nil
	c.forgetLocked()
	c.blocks = blocks{}
	c.changed()
	return nil
}

// takenBackLocked is tombstones of all blocks.
func (c *consumer) takenBackLocked(now time.Time) (records []record.Record) {
	for _, b := range c.blocks.m {
		if b.written {
			records = append(records, blockRecord(c.name, b.number, nil, nil, now))
		}
	}
	return records
}
