package queue

import (
	"container/heap"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// consumer is one name's place in the queue, and what is out at present.
type consumer struct {
	q       *Queue
	name    string
	version atomic.Int64 // counts what may let a waiting Next go on

	mu sync.Mutex
	place
	done    spans               // at or above the floor
	written map[int64]bool      // blocks that have a record
	next    int64               // where messages have not been looked at
	ahead   []record.Record     // read from next on
	room    []record.Record     // what ahead is in
	entries map[int64]*entry    // looked at and not done
	ready   byOffset            // of these, to be delivered now
	timed   byTime              // of these, out or delayed
	keys    map[string][]*entry // with ByKey: those of each key, in order; the first holds up the others

	// Messages that were delivered and are not done, by block; of those in
	// past, from before this opening, there is no entry yet.
	delivered map[int64]map[int64]bool
	spare     map[int64]bool // for delivered: one that was emptied
	past      map[int64]attempt
}

// entry is a message that was looked at and is not done.
type entry struct {
	offset     int64
	deliveries int
	key        string
	keyed      bool // in keys
	out        bool
	at         time.Time      // when it is back, if out, or due
	delivery   uint64         // counts its deliveries in this opening
	heap       heap.Interface // ready or timed; nil if it is in neither
	index      int
}

func newConsumer(q *Queue, name string, p place) *consumer {
	c := &consumer{q: q, name: name, place: p, written: make(map[int64]bool)}
	c.forgetLocked()
	return c
}

// forgetLocked lets go of everything that is looked at.
func (c *consumer) forgetLocked() {
	c.next, c.ahead = c.floor, nil
	c.entries, c.ready, c.timed = make(map[int64]*entry), nil, nil
	c.keys = make(map[string][]*entry)
	c.delivered, c.past = make(map[int64]map[int64]bool), make(map[int64]attempt)
}

// changed lets waiting Nexts look again.
func (c *consumer) changed() {
	c.version.Add(1)
	c.q.changed.Notify()
}

// aheadOf is how many messages are read at once, and maxWaiting how many may be
// looked at and neither done nor out, waiting for their time or for others of
// their key, before no more are looked at.
const (
	aheadOf    = 256
	maxWaiting = 100_000
)

// hand gives out the next message, ok, or says when there may be one; zero is
// when something changes.
func (c *consumer) hand(now time.Time) (m Message, ok bool, at time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.trimLocked(c.q.log.First()); err != nil {
		return m, false, at, err
	}
	for {
		c.backLocked(now)
		var e *entry
		var r record.Record
		switch {
		case len(c.ready) > 0:
			e = c.ready[0]
			take(e)
			if r, err = c.q.log.Read(e.offset); errors.Is(err, log.ErrTrimmed) {
				if err = c.trimLocked(c.q.log.First()); err == nil {
					continue
				}
			}
			if err != nil {
				put(&c.ready, e)
				return m, false, at, err
			}
		case len(c.entries) < maxWaiting:
			if e, r, err = c.lookLocked(now); err != nil {
				return m, false, at, err
			}
		}
		if e == nil {
			if len(c.timed) > 0 {
				at = c.timed[0].at
			}
			return m, false, at, nil
		}
		if most := c.q.opts.MaxDeliveries; most > 0 && e.deliveries >= most {
			if err := c.giveUpLocked(e, r); err != nil {
				put(&c.ready, e)
				return m, false, at, err
			}
			continue
		}
		if m, err = c.outLocked(e, r, now); err != nil {
			put(&c.ready, e)
			return m, false, at, err
		}
		return m, true, at, nil
	}
}

// backLocked makes ready what was out for too long or is due.
func (c *consumer) backLocked(now time.Time) {
	for len(c.timed) > 0 && !c.timed[0].at.After(now) {
		e := c.timed[0]
		take(e)
		e.out = false
		put(&c.ready, e)
	}
}

// lookLocked looks at messages from next on until one is to be delivered now.
func (c *consumer) lookLocked(now time.Time) (*entry, record.Record, error) {
	for {
		if len(c.ahead) == 0 {
			if err := c.readLocked(); err != nil || len(c.ahead) == 0 {
				return nil, record.Record{}, err
			}
		}
		r := c.ahead[0]
		c.ahead[0], c.ahead, c.next = record.Record{}, c.ahead[1:], r.Offset+1
		if r.Offset < c.floor || c.done.has(r.Offset) {
			continue
		}
		if e := c.meetLocked(r, now); e != nil {
			return e, r, nil
		}
	}
}

// readLocked fills ahead.
func (c *consumer) readLocked() error {
	at := max(c.next, c.floor, c.q.log.First())
	at = c.done.after(at)
	if at >= c.q.log.End() {
		c.next = max(c.next, min(at, c.q.log.End()))
		return nil
	}
	c.next = at
	if c.room == nil {
		c.room = make([]record.Record, 0, aheadOf)
	}
	c.ahead = c.room
	for r, err := range c.q.log.From(at) {
		if err != nil {
			return err
		}
		if c.ahead = append(c.ahead, r); len(c.ahead) == aheadOf {
			break
		}
	}
	return nil
}

// meetLocked begins the entry of a message. It is nil if that has to wait.
func (c *consumer) meetLocked(r record.Record, now time.Time) *entry {
	e := &entry{offset: r.Offset}
	c.entries[r.Offset] = e
	m := message(r)
	due := m.NotBefore
	if a, ok := c.past[r.Offset]; ok {
		delete(c.past, r.Offset)
		e.deliveries = a.deliveries
		if a.due.After(due) {
			due = a.due
		}
	}
	if c.q.opts.Order == ByKey && r.Key != nil {
		e.key, e.keyed = string(r.Key), true
		c.keys[e.key] = append(c.keys[e.key], e)
		if len(c.keys[e.key]) > 1 {
			e.at = due
			return nil
		}
	}
	if due.After(now) {
		e.at = due
		put(&c.timed, e)
		return nil
	}
	return e
}

// outLocked delivers a message.
func (c *consumer) outLocked(e *entry, r record.Record, now time.Time) (m Message, err error) {
	e.deliveries++
	e.out, e.at = true, now.Add(c.q.opts.Visibility)
	c.countLocked(e.offset)
	if e.deliveries > 1 || e.offset >= c.reach {
		if err := c.noteLocked(e, now); err != nil {
			e.deliveries--
			e.out, e.at = false, time.Time{}
			return m, err
		}
	}
	e.delivery++
	put(&c.timed, e)
	m = message(r)
	m.Deliveries, m.from, m.delivery = e.deliveries, c, e.delivery
	return m, nil
}

// countLocked notes that a message was delivered.
func (c *consumer) countLocked(offset int64) {
	block := offset / blockSize
	in := c.delivered[block]
	if in == nil {
		if in, c.spare = c.spare, nil; in == nil {
			in = make(map[int64]bool)
		}
		c.delivered[block] = in
	}
	in[offset] = true
}

// uncountLocked notes that it is done.
func (c *consumer) uncountLocked(offset int64) {
	block := offset / blockSize
	in := c.delivered[block]
	if delete(in, offset); len(in) == 0 {
		delete(c.delivered, block)
		c.spare = in
	}
}

// reachStep is how far ahead of a delivery its consumer's reach is written, so
// that it need not be with each.
const reachStep = 64

// noteLocked writes that a message is being delivered: of a first time, that
// the reach includes it.
func (c *consumer) noteLocked(e *entry, now time.Time) error {
	if e.deliveries > 1 {
		block := e.offset / blockSize
		c.written[block] = true
		return c.writeLocked(c.blockLocked(block, span{}, now))
	}
	p := c.place
	p.reach = e.offset + reachStep
	if err := c.writeLocked(p.record(c.name, now)); err != nil {
		return err
	}
	c.place = p
	return nil
}

// blockLocked is the record of a block, with more taken for done.
func (c *consumer) blockLocked(block int64, more span, now time.Time) record.Record {
	from := block * blockSize
	done := c.done.within(from, from+blockSize)
	done.add(more.from, more.to)
	var attempts []attempt
	for offset := range c.delivered[block] {
		a := attempt{offset: offset}
		if e := c.entries[offset]; e == nil {
			a = c.past[offset]
		} else if a.deliveries = e.deliveries; !e.out {
			a.due = e.at
		}
		if !done.has(offset) {
			attempts = append(attempts, a)
		}
	}
	return blockRecord(c.name, block, done, attempts, now)
}

// writeLocked appends to the log of places.
func (c *consumer) writeLocked(records ...record.Record) error {
	_, err := c.q.places.Append(records...)
	return err
}
