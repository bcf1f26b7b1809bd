package concurrent

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// run is one history in the making: what all of its clients share.
type run struct {
	log    subject
	levels []log.Isolation
	clock  atomic.Int64
	ids    atomic.Int64 // of batches
	epochs atomic.Int32
	floor  *atomic.Int64 // of the retention policy
	floors sync.Mutex    // held by who retains: a floor is one call's

	mu   sync.Mutex
	sent []batchOp // of producers, to be sent again
}

// client does one thing after the other, and notes what came of it.
type client struct {
	*run
	number int
	rand   *rand.Rand
	did    []porcupine.Operation

	pid  int64 // its own producer's
	seq  int32
	open bool // a transaction
}

func (c *client) now() int64 { return c.clock.Add(1) }

func (c *client) note(o op, call int64, out result) int64 {
	end := c.now()
	c.did = append(c.did, porcupine.Operation{ClientId: c.number, Input: o, Call: call, Output: out, Return: end})
	return end
}

func (c *client) do(o op, f func() result) result {
	call := c.now()
	out := f()
	c.note(o, call, out)
	return out
}

// plainly is do for what returns an error alone.
func (c *client) plainly(o op, f func() error) {
	c.do(o, func() result { return result{err: errName(f())} })
}

func (c *client) id() int { return int(c.ids.Add(1)) }

// level is a level of this history.
func (c *client) level() log.Isolation { return c.levels[c.rand.IntN(len(c.levels))] }

// offset is one in the log or close to it.
func (c *client) offset() int64 {
	first, end := c.log.First(), c.log.End()
	return max(0, first-1+c.rand.Int64N(max(end-first, 0)+3))
}

func (c *client) append() {
	id, n := c.id(), 1+c.rand.IntN(3)
	c.do(appendOp{id, n}, func() result {
		at, err := c.log.Append(recordsOf(id, n)...)
		return result{err: errName(err), offset: at}
	})
}

func (c *client) appendSync() {
	id, n := c.id(), 1+c.rand.IntN(2)
	call := c.now()
	at, err := c.log.AppendSync(ctx, recordsOf(id, n)...)
	if at < 0 {
		c.note(appendOp{id, n}, call, result{err: errName(err)})
		return
	}
	c.note(appendOp{id, n}, call, result{offset: at})
	c.note(syncOp{at + int64(n)}, call, result{err: errName(err)})
}

func (c *client) sync() {
	var upTo int64
	c.do(markOp{end}, func() result { upTo = c.log.End(); return result{offset: upTo} })
	c.plainly(syncOp{upTo}, func() error {
		if c.rand.IntN(3) == 0 {
			return c.log.Checkpoint(ctx)
		}
		return c.log.Sync(ctx)
	})
}

// produce sends a producer's next batch.
func (c *client) produce() {
	k := idempotent
	if c.open {
		k = transactional
	}
	if c.pid == 0 {
		c.pid, c.seq = int64(1000+c.id()), 0
	}
	o := batchOp{id: c.id(), n: 1 + c.rand.IntN(3), kind: k, pid: c.pid, seq: c.seq}
	c.seq += int32(o.n)
	c.mu.Lock()
	if k == idempotent {
		c.sent = append(c.sent, o)
	}
	c.mu.Unlock()
	if out := c.send(o); out.err != "" || out.dup {
		c.pid, c.open = 0, false // cut off: a new one
	}
}

func (c *client) send(o batchOp) result {
	raw := encoded(o.id, o.n, o.pid, o.seq, o.kind == transactional)
	return c.do(o, func() result {
		a, err := c.log.AppendBatch(raw, log.FromClient)
		return result{err: errName(err), offset: a.First, dup: a.Duplicate}
	})
}

// again sends what some client sent lately, perhaps while it is at it.
func (c *client) again() {
	c.mu.Lock()
	var o batchOp
	if n := len(c.sent); n > 0 {
		o = c.sent[max(n-1-c.rand.IntN(6), 0)]
	}
	c.mu.Unlock()
	if o.n > 0 {
		c.send(o)
	}
}

// transact begins a transaction, goes on with it or ends it.
func (c *client) transact() {
	switch {
	case !c.open:
		c.pid, c.seq, c.open = int64(1000+c.id()), 0, true
		c.produce()
	case c.rand.IntN(2) == 0:
		c.produce()
	default:
		o := endOp{id: c.id(), pid: c.pid, kind: commit + kind(c.rand.IntN(2))}
		c.open = false
		c.do(o, func() result {
			a, err := c.log.EndTransaction(log.EndTxn{ProducerID: o.pid, Commit: o.kind == commit})
			return result{err: errName(err), offset: a.First}
		})
		c.pid = 0
	}
}

func (c *client) setHighWatermark() {
	to := c.offset()
	c.plainly(setHighWatermarkOp{to}, func() error { return c.log.SetHighWatermark(to) })
}

func (c *client) setLeaderEpoch() {
	to := c.epochs.Add(1)
	c.plainly(setLeaderEpochOp{to}, func() error { return c.log.SetLeaderEpoch(to) })
}

func (c *client) dropBefore() {
	to := c.log.First() + c.rand.Int64N(4)
	c.plainly(dropBeforeOp{to}, func() error { return c.log.DropBefore(to) })
}

func (c *client) dropFrom() {
	to := max(c.log.End()-1-c.rand.Int64N(5), 0)
	c.plainly(dropFromOp{to}, func() error { return c.log.DropFrom(to) })
}

func (c *client) retain() {
	c.floors.Lock()
	defer c.floors.Unlock()
	floor := c.offset()
	c.floor.Store(floor)
	c.do(retainOp{floor}, func() result {
		dropped, err := c.log.Retain(ctx)
		out := result{err: errName(err), offset: -1}
		if n := len(dropped); n > 0 {
			out.offset = dropped[n-1].Next
		}
		return out
	})
}

func (c *client) compact() {
	c.plainly(compactOp{}, func() error {
		_, err := c.log.Compact(ctx)
		return err
	})
}

func (c *client) read() {
	o := readOp{c.level(), c.offset()}
	c.do(o, func() result {
		r, err := c.log.ReadAt(o.level, o.offset)
		if err != nil {
			return result{err: errName(err)}
		}
		return told(r)
	})
}

func told(r record.Record) result {
	out := result{offset: r.Offset}
	out.id, out.index = recognise(r)
	return out
}

// walk notes each record as a read of its own: what is promised of a walk is
// that each batch is as the log was at some moment since the last one.
func (c *client) walk() {
	level, at, left := c.level(), c.offset(), 1+c.rand.IntN(12)
	c.walkFrom(level, at, left)
}

func (c *client) walkFrom(level log.Isolation, at int64, left int) {
	last := c.now()
	began, id := last, -1
	for r, err := range c.log.Walk(level, at) {
		out := result{}
		if err != nil {
			out.err = errName(err)
		} else {
			out = told(r)
		}
		if out.id != id { // of another batch, read since the last record
			began, id = last, out.id
		}
		last = c.note(walkOp{level, at}, began, out)
		if at = r.Offset + 1; err != nil {
			return
		}
		if left--; left == 0 {
			return
		}
	}
	c.note(walkOp{level, at}, last, result{err: "eof"})
}

func (c *client) borrow() {
	o := borrowOp{c.level(), c.offset()}
	c.do(o, func() result {
		v, err := c.log.BorrowAt(o.level, o.offset, c.rand.Int64N(2000))
		if err != nil {
			return result{err: errName(err)}
		}
		defer v.Release()
		var seen view
		var d record.Decoder
		for b := range v.Batches() {
			seen.batches = append(seen.batches, borrowed{b.BaseOffset, b.NextOffset(), b.LeaderEpoch, b.Control()})
			if b.Control() {
				continue
			}
			for r, err := range d.Records(b) {
				if err != nil {
					return result{err: errName(err)}
				}
				if r.Offset >= o.offset {
					seen.records = append(seen.records, told(r))
				}
			}
		}
		return result{view: &seen}
	})
}

func (c *client) offsetAt() {
	t := epochStart.Add(time.Duration(c.rand.IntN(300)) * time.Second)
	c.do(offsetAtOp{t}, func() result {
		at, err := c.log.OffsetAt(t)
		return result{err: errName(err), offset: at}
	})
}

// mark reads a watermark or two.
func (c *client) mark() {
	for range 1 + c.rand.IntN(2) {
		c.markOf(mark(c.rand.IntN(int(leaderEpoch) + 1)))
	}
}

func (c *client) markOf(m mark) {
	c.do(markOp{m}, func() result {
		switch m {
		case first:
			return result{offset: c.log.First()}
		case end:
			return result{offset: c.log.End()}
		case highWatermark:
			return result{offset: c.log.HighWatermark()}
		case durable:
			return result{offset: c.log.Durable()}
		case lastStable:
			return result{offset: c.log.LastStable()}
		}
		return result{offset: int64(c.log.LeaderEpoch())}
	})
}

func (c *client) close() {
	call := c.now()
	err := c.log.Close()
	c.note(closingOp{}, call, result{err: errName(err)})
	c.note(closedOp{}, call, result{err: errName(err)})
}
