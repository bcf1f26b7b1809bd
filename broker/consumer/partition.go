package consumer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/seglog/seglog/broker"
)

// partition is one that is the consumer's.
type partition struct {
	tp TopicPartition
	// at is where it is, nil as long as there is none of the name. A position is
	// one in it.
	at *broker.Partition

	positioned bool
	position   int64    // of the next record to return
	begin      begin    // how to come by a position
	changed    uint64   // counts changes of position that no reading made
	buffer     []Record // read and not returned, from position on
	next       int64    // the position behind the buffer

	committed int64 // what was last committed, -1 if that is not known
	paused    bool
	err       error // what Poll is to return
	retry     time.Time
}

// begin is how a partition comes by a position.
type begin int

const (
	atCommitted begin = iota // or else by Options.Reset
	atReset
	atFirst
	atEnd
)

func (c *Consumer) owned() []TopicPartition {
	list := make([]TopicPartition, 0, len(c.mu.parts))
	for tp := range c.mu.parts {
		list = append(list, tp)
	}
	slices.SortFunc(list, inOrder)
	return list
}

func inOrder(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

func (c *Consumer) add(tp TopicPartition) {
	if c.mu.parts[tp] != nil {
		return
	}
	p := &partition{tp: tp, committed: -1}
	c.mu.parts[tp] = p
	c.mu.order = append(c.mu.order, p)
}

func (c *Consumer) drop(tp TopicPartition) {
	p := c.mu.parts[tp]
	delete(c.mu.parts, tp)
	c.mu.order = slices.DeleteFunc(c.mu.order, func(o *partition) bool { return o == p })
	c.mu.turn = 0
}

// find is a partition that is the consumer's.
func (c *Consumer) find(tp TopicPartition) (*partition, error) {
	if c.mu.closed {
		return nil, ErrClosed
	}
	if p := c.mu.parts[tp]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s-%d: %w", tp.Topic, tp.Partition, ErrNotAssigned)
}

// place sets a position that is none of reading: what was read is not what
// comes next.
func (p *partition) place(offset int64) {
	p.positioned, p.position, p.next = true, offset, offset
	p.afresh()
}

// displace has the partition come by a position again.
func (p *partition) displace(how begin) {
	p.positioned, p.begin = false, how
	p.afresh()
}

func (p *partition) afresh() {
	p.buffer, p.err, p.retry = nil, nil, time.Time{}
	p.changed++
}

// bind finds where the partition is, if its topic is there. A topic made anew is
// another one: nothing that is known of the old one holds.
func (p *partition) bind(b *broker.Broker) bool {
	if p.at != nil && p.at.Topic().Deleted() {
		p.at, p.committed = nil, -1
		p.displace(atCommitted)
	}
	if p.at == nil {
		p.at, _ = b.Partition(p.tp.Topic, p.tp.Partition)
	}
	return p.at != nil
}

// fail has Poll return an error, and the partition be tried again later.
func (p *partition) fail(now time.Time, err error) {
	p.err, p.retry = fmt.Errorf("consumer: %s-%d: %w", p.tp.Topic, p.tp.Partition, err), now.Add(backoff)
}

// take takes up to limit records that were read, partition by partition. It is
// the turn of the next one when nothing of a partition is left, in reading as well.
func (c *Consumer) take(limit int) (records []Record) {
	n, turn := len(c.mu.order), c.mu.turn
	for i := turn; i < c.mu.turn+n && len(records) < limit; i++ {
		p := c.mu.order[i%n]
		if len(p.buffer) == 0 || p.paused {
			continue
		}
		some := min(limit-len(records), len(p.buffer))
		if records == nil {
			records = p.buffer[:some:some]
		} else {
			records = append(records, p.buffer[:some]...)
		}
		if p.buffer = p.buffer[some:]; len(p.buffer) > 0 {
			p.position, turn = p.buffer[0].Offset, i
			break
		}
		p.position, p.buffer = p.next, nil
		turn = i + 1
	}
	c.mu.turn = turn % max(n, 1)
	return records
}
