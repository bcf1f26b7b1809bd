package queue

import (
	"errors"
	"io"
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
	forgotten bool                // by Forget: another has its name, or none
	done      spans               // at or above the floor
	blocks    blocks              // what was delivered and is not done
	next      int64               // where messages have not been looked at
	cursor    *log.Cursor         // there; nil: to be made
	read      record.Record       // the message that is being looked at
	met       int                 // entries: looked at and not done
	ready     byOffset            // of these, to be delivered now
	timed     byTime              // of these, out or delayed
	keys      map[string][]*entry // with ByKey: those of each key, in order; the first holds up the others
	past      []attempt           // delivered before this opening and not looked at yet, by offset

	deliveries uint64    // in this opening
	looked     time.Time // when it was last asked for a message
	free       []*entry  // to be used again
	writing    writing
}

func newConsumer(q *Queue, name string, p place) *consumer {
	c := &consumer{q: q, name: name, place: p, keys: make(map[string][]*entry), writing: writing{key: placeKey(name)}}
	c.forgetLocked()
	return c
}

// forgetLocked lets go of everything that is looked at.
func (c *consumer) forgetLocked() {
	for _, e := range c.metLocked() {
		c.dropLocked(e)
	}
	c.next, c.cursor, c.past = c.floor, nil, nil
}

// metLocked is all entries.
func (c *consumer) metLocked() []*entry {
	all := make([]*entry, 0, c.met)
	for _, list := range c.keys {
		all = append(all, list...)
	}
	for _, h := range [][]*entry{c.ready, c.timed} {
		for _, e := range h {
			if !e.keyed {
				all = append(all, e)
			}
		}
	}
	return all
}

// changed lets waiting Nexts look again.
func (c *consumer) changed() {
	c.version.Add(1)
	c.q.changed.Notify()
}

// maxWaiting is how many messages may be looked at and neither done nor out,
// waiting for their time or for others of their key, before no more are looked at.
const maxWaiting = 100_000

// hand gives out the next message, ok, or says when there may be one; zero is
// when something changes.
func (c *consumer) hand(now time.Time, m *Message) (ok bool, at time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked = now
	for {
		if c.forgotten {
			return false, at, errForgotten
		}
		if err := c.trimLocked(c.q.log.First()); err != nil {
			return false, at, err
		}
		c.backLocked(now)
		var e *entry
		switch {
		case len(c.ready) > 0:
			if c.read, err = c.q.log.Read(c.ready[0].offset); err == nil {
				e = c.ready[0]
				take(e)
			}
		case c.met < maxWaiting:
			e, err = c.lookLocked(now)
		}
		switch {
		case errors.Is(err, log.ErrTrimmed):
			continue
		case err != nil:
			return false, at, err
		case e == nil:
			if len(c.timed) > 0 {
				at = c.timed[0].at
			}
			return false, at, nil
		}
		if most := c.q.opts.MaxDeliveries; most > 0 && e.deliveries >= most {
			if err := c.giveUpLocked(e); err != nil {
				put(&c.ready, e)
				return false, at, err
			}
			continue
		}
		if err := c.outLocked(e, now); err != nil {
			put(&c.ready, e)
			return false, at, err
		}
		m.fill(&c.read)
		m.Deliveries, m.from, m.entry, m.delivery = e.deliveries, c, e, e.delivery
		return true, at, nil
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

// lookLocked looks at messages from next on until one is to be delivered now. It
// is in read then.
func (c *consumer) lookLocked(now time.Time) (*entry, error) {
	for {
		err := c.readLocked()
		switch {
		case err == io.EOF:
			return nil, nil
		case err != nil:
			c.cursor = nil // so that it is tried again from next on
			return nil, err
		}
		c.next = c.read.Offset + 1
		if c.read.Offset < c.floor || c.done.has(c.read.Offset) {
			continue
		}
		if e := c.meetLocked(now); e != nil {
			return e, nil
		}
	}
}

// jump is how many messages that are done are jumped over and not read through.
const jump = 256

// readLocked reads the message at next, or the one behind it that is not done.
func (c *consumer) readLocked() error {
	if at := c.done.after(max(c.next, c.floor)); at >= c.q.log.End() {
		return io.EOF
	} else if c.cursor == nil || at-c.next >= jump {
		c.next, c.cursor = at, c.q.log.Cursor(at)
	}
	return c.cursor.Next(&c.read)
}

// meetLocked begins the entry of the message in read. It is nil if that has to
// wait.
func (c *consumer) meetLocked(now time.Time) *entry {
	e := c.entryLocked(c.read.Offset)
	due, _ := delayOf(&c.read)
	for len(c.past) > 0 && c.past[0].offset <= e.offset {
		if a := c.past[0]; a.offset == e.offset {
			if e.deliveries = a.deliveries; a.due.After(due) {
				due = a.due
			}
			c.blocks.add(e)
		}
		c.past = c.past[1:]
	}
	if c.q.opts.Order == ByKey && c.read.Key != nil {
		e.key, e.keyed = string(c.read.Key), true
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

// outLocked has a message delivered.
func (c *consumer) outLocked(e *entry, now time.Time) error {
	c.blocks.add(e)
	e.deliveries++
	e.out, e.at = true, now.Add(c.q.opts.Visibility)
	if e.deliveries > 1 || e.offset >= c.reach {
		if err := c.noteLocked(e, now); err != nil {
			e.deliveries--
			e.out, e.at = false, time.Time{}
			return err
		}
	}
	c.deliveries++
	e.delivery = c.deliveries
	put(&c.timed, e)
	return nil
}

// reachStep is how far ahead of a delivery its consumer's reach is written, so
// that it need not be with each.
const reachStep = 64

// noteLocked writes that a message is being delivered: of a first time, that
// the reach includes it.
func (c *consumer) noteLocked(e *entry, now time.Time) error {
	if e.deliveries > 1 {
		return c.writeBlockLocked(c.blocks.of(e.offset), span{}, now)
	}
	p := c.place
	p.reach = e.offset + reachStep
	return c.moveLocked(p, now)
}
