package queue

import (
	"time"

	"github.com/seglog/seglog/record"
)

// heldLocked is the entry of a message, if the delivery is still the last one.
func (c *consumer) heldLocked(m *Message) (*entry, error) {
	e := c.entries[m.Offset]
	if e == nil || e.delivery != m.delivery {
		return nil, ErrExpired
	}
	return e, nil
}

// ack is Message.Ack but for the sync. One that comes after Visibility and before
// the next delivery still holds.
func (c *consumer) ack(m *Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Offset < c.floor || c.done.has(m.Offset) {
		return nil
	}
	e, err := c.heldLocked(m)
	if err != nil {
		return err
	}
	return c.finishLocked(e)
}

// finishLocked makes a message done: first on disk, then here.
func (c *consumer) finishLocked(e *entry) error {
	now := c.q.opts.Env.Now()
	if e.offset != c.floor {
		block := e.offset / blockSize
		if err := c.writeLocked(c.blockLocked(block, span{e.offset, e.offset + 1}, now)); err != nil {
			return err
		}
		c.written[block] = true
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

// moveLocked writes a later floor, and takes back the records of blocks that
// are below it.
func (c *consumer) moveLocked(p place, now time.Time) error {
	records := []record.Record{p.record(c.name, now)}
	for block := range c.written {
		if (block+1)*blockSize <= p.floor {
			records = append(records, blockRecord(c.name, block, nil, nil, now))
		}
	}
	if err := c.writeLocked(records...); err != nil {
		return err
	}
	for block := range c.written {
		if (block+1)*blockSize <= p.floor {
			delete(c.written, block)
		}
	}
	c.place = p
	c.done.below(p.floor)
	return nil
}

// dropLocked forgets an entry, and lets the next of its key go.
func (c *consumer) dropLocked(e *entry) {
	take(e)
	delete(c.entries, e.offset)
	c.uncountLocked(e.offset)
	if !e.keyed {
		return
	}
	list := c.keys[e.key]
	for i := range list {
		if list[i] == e {
			list = append(list[:i:i], list[i+1:]...)
			if c.keys[e.key] = list; len(list) == 0 {
				delete(c.keys, e.key)
			} else if i == 0 {
				c.timeLocked(list[0])
			}
			break
		}
	}
}

// timeLocked has an entry delivered when it is due.
func (c *consumer) timeLocked(e *entry) {
	if e.at.After(c.q.opts.Env.Now()) {
		put(&c.timed, e)
	} else {
		put(&c.ready, e)
	}
	c.changed()
}

// nack is Message.Nack but for the sync.
func (c *consumer) nack(m *Message, delay time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, err := c.heldLocked(m)
	if err != nil {
		return err
	}
	now, was := c.q.opts.Env.Now(), *e
	e.out, e.at = false, now.Add(delay)
	block := e.offset / blockSize
	if err := c.writeLocked(c.blockLocked(block, span{}, now)); err != nil {
		e.out, e.at = was.out, was.at
		return err
	}
	c.written[block] = true
	take(e)
	e.delivery++ // this one is over
	c.timeLocked(e)
	return nil
}

// extend is Message.Extend.
func (c *consumer) extend(m *Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, err := c.heldLocked(m)
	if err != nil {
		return err
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
	for offset, e := range c.entries {
		if offset < p.floor {
			c.dropLocked(e)
		}
	}
	for offset := range c.past {
		if offset < p.floor {
			delete(c.past, offset)
			c.uncountLocked(offset)
		}
	}
	if c.next < p.floor {
		c.next, c.ahead = p.floor, nil
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
	records := []record.Record{p.record(c.name, now)}
	for block := range c.written {
		records = append(records, blockRecord(c.name, block, nil, nil, now))
	}
	if err := c.writeLocked(records...); err != nil {
		return err
	}
	c.place, c.done = p, nil
	clear(c.written)
	c.forgetLocked()
	c.changed()
	return nil
}
