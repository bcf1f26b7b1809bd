package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/log"
)

// settle finds out where partitions are and where they begin.
func (c *Consumer) settle(now time.Time) {
	var without []*partition
	for _, p := range c.mu.order {
		if p.bind(c.b) && !p.positioned && !p.retry.After(now) {
			without = append(without, p)
		}
	}
	c.start(now, without)
}

// start gives partitions their first position, as far as that can be told now.
func (c *Consumer) start(now time.Time, list []*partition) {
	var ask []*partition
	for _, p := range list {
		if p.begin == atCommitted && c.group != "" {
			ask = append(ask, p)
			continue
		}
		c.startAt(now, p)
	}
	if len(ask) == 0 {
		return
	}
	tps := make([]TopicPartition, len(ask))
	for i, p := range ask {
		tps[i] = p.tp
	}
	offsets, err := c.fetchCommitted(tps)
	for i, p := range ask {
		code := codeOf(err)
		if code == group.None {
			code = offsets[i].Code
		}
		switch o := offsetOf(offsets, i); {
		case passing(code):
			p.retry = now.Add(backoff)
		case code != group.None:
			p.fail(now, coded("the committed offset", code))
		case o.Offset >= 0 && (o.TopicID == p.at.Topic().ID() || o.TopicID == broker.TopicID{}):
			p.place(o.Offset)
			p.committed = o.Offset
		default:
			c.startAt(now, p)
		}
	}
}

func offsetOf(list []group.Fetched, i int) group.Offset {
	if i < len(list) {
		return list[i].Offset
	}
	return group.Offset{Offset: -1}
}

// startAt gives a partition the position that it has without a committed offset.
func (c *Consumer) startAt(now time.Time, p *partition) {
	how := p.begin
	if how == atCommitted || how == atReset {
		switch c.opts.Reset {
		case Earliest:
			how = atFirst
		case Latest:
			how = atEnd
		default:
			p.fail(now, ErrNoOffset)
			return
		}
	}
	l, err := p.at.Log()
	switch {
	case err != nil && p.at.Topic().Deleted(): // it is bound again later
	case err != nil:
		p.fail(now, err)
	case how == atFirst:
		p.place(l.First())
	default:
		p.place(l.Isolated(c.opts.Isolation).End())
	}
}

// fetchCommitted asks the group's coordinator.
func (c *Consumer) fetchCommitted(partitions []TopicPartition) (list []group.Fetched, err error) {
	var code group.Code
	err = c.coordinator(func(k *group.Coordinator, _ time.Time) {
		list, code = k.Fetch(c.group, partitions, c.opts.Isolation == log.ReadCommitted)
	})
	if err == nil {
		err = coded("the committed offsets", code)
	}
	return list, err
}

// coordinator calls do with that of the group, which has one from the first call
// on. do must not take a lock of the consumer's.
func (c *Consumer) coordinator(do func(k *group.Coordinator, now time.Time)) error {
	err := c.b.Group(c.group, do)
	if err == nil {
		return nil
	}
	// Making its topic takes a moment, and is not to be ended halfway.
	if _, err := c.b.OffsetsTopic(context.Background()); err != nil {
		return err
	}
	return c.b.Group(c.group, do)
}

// Seek sets the position: the offset of the next record to return. It need not be
// one that is there: where it is beyond all there is, Reset says what happens.
func (c *Consumer) Seek(tp TopicPartition, offset int64) error {
	if offset < 0 {
		return errors.New("consumer: Seek to an offset below 0")
	}
	return c.change([]TopicPartition{tp}, func(p *partition) { p.place(offset) })
}

// SeekToBeginning sets the positions to the first record there is, of none given
// of all partitions.
func (c *Consumer) SeekToBeginning(partitions ...TopicPartition) error {
	return c.seekTo(atFirst, partitions)
}

// SeekToEnd sets the positions behind the last record that the isolation level
// shows now, of none given of all partitions.
func (c *Consumer) SeekToEnd(partitions ...TopicPartition) error {
	return c.seekTo(atEnd, partitions)
}

func (c *Consumer) seekTo(where begin, partitions []TopicPartition) error {
	return c.change(partitions, func(p *partition) {
		p.displace(where)
		if p.bind(c.b) {
			c.startAt(time.Now(), p)
		}
	})
}

// change changes partitions, all if none are given, or none if one of them is not
// the consumer's.
func (c *Consumer) change(partitions []TopicPartition, how func(*partition)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(partitions) == 0 {
		partitions = c.owned()
	}
	list := make([]*partition, len(partitions))
	for i, tp := range partitions {
		p, err := c.find(tp)
		if err != nil {
			return err
		}
		p.bind(c.b) // what is changed is not of a topic that is gone
		list[i] = p
	}
	for _, p := range list {
		how(p)
	}
	c.nudge()
	return nil
}

// Pause has Poll return nothing of these partitions, and read nothing of them,
// until Resume. What becomes of them in the group is not changed; a partition that
// goes and comes again is not paused.
func (c *Consumer) Pause(partitions ...TopicPartition) error {
	return c.pause(partitions, true)
}

// Resume ends Pause.
func (c *Consumer) Resume(partitions ...TopicPartition) error {
	return c.pause(partitions, false)
}

func (c *Consumer) pause(partitions []TopicPartition, paused bool) error {
	if len(partitions) == 0 {
		return nil
	}
	return c.change(partitions, func(p *partition) { p.paused = paused })
}

// Paused are the partitions that are, in order.
func (c *Consumer) Paused() (list []TopicPartition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tp := range c.owned() {
		if c.mu.parts[tp].paused {
			list = append(list, tp)
		}
	}
	return list
}

// Position is the offset of the next record that Poll returns of a partition. It
// waits, no longer than ctx, for a topic that is not there and a coordinator that
// is being loaded.
func (c *Consumer) Position(ctx context.Context, tp TopicPartition) (int64, error) {
	for {
		offset, err, ok := c.positionNow(tp)
		if ok {
			return offset, err
		}
		if err := pause(ctx); err != nil {
			return -1, err
		}
	}
}

func (c *Consumer) positionNow(tp TopicPartition) (offset int64, err error, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.find(tp)
	if err != nil {
		return -1, err, true
	}
	if p.bind(c.b) && !p.positioned {
		c.start(time.Now(), []*partition{p})
	}
	switch {
	case p.positioned:
		return p.position, nil, true
	case p.err != nil:
		return -1, p.err, true
	case c.b.Closed():
		return -1, broker.ErrClosed, true
	}
	return -1, nil, false
}

// pause waits before what did not work is tried again.
func pause(ctx context.Context) error {
	timer := time.NewTimer(backoff)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// OffsetsForTimes are the first records at or after these times, of those that
// the isolation level shows. A partition without such a record is left out; one
// that does not exist is UNKNOWN_TOPIC_OR_PARTITION. They need not be assigned.
func (c *Consumer) OffsetsForTimes(times map[TopicPartition]time.Time) (map[TopicPartition]broker.Stamped, error) {
	found := make(map[TopicPartition]broker.Stamped)
	for tp, t := range times {
		p, err := c.b.Partition(tp.Topic, tp.Partition)
		if err != nil {
			return nil, err
		}
		at, ok, err := p.OffsetAt(c.opts.Isolation, t)
		if err != nil {
			return nil, err
		}
		if ok {
			found[tp] = at
		}
	}
	return found, nil
}
