package queue

import (
	"context"
	"slices"
	"time"

	"github.com/seglog/seglog/record"
)

// Stats are figures of one consumer.
type Stats struct {
	Depth   int64 // messages that are not done, those that are out included
	Out     int   // delivered and not dealt with
	Waiting int   // looked at and waiting for their time or for others of their key
	Dropped int64 // messages that a limit took before they were done
	Floor   int64 // every message below is done
}

// Consumers lists the names of the consumers there are.
func (q *Queue) Consumers() (names []string) {
	for _, c := range q.all() {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}

// Stats are the figures of a consumer. One that is not there is begun, as by
// Next.
func (q *Queue) Stats(consumer string) (Stats, error) {
	c, err := q.consumer(consumer)
	if err != nil {
		return Stats{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{Dropped: c.dropped, Floor: c.floor}
	floor := max(c.floor, q.log.First())
	s.Depth = q.log.End() - floor - c.done.within(floor, q.log.End()).count()
	now := q.opts.Env.Now()
	for _, e := range c.timed {
		if e.out && e.at.After(now) {
			s.Out++
		}
	}
	s.Waiting = c.met - s.Out
	return s, nil
}

// Depth is Stats.Depth.
func (q *Queue) Depth(consumer string) (int64, error) {
	s, err := q.Stats(consumer)
	return s.Depth, err
}

// Peek looks at the first n messages that the consumer has not done, in order,
// without delivering them: those that are out and delayed are among them.
func (q *Queue) Peek(consumer string, n int) (messages []Message, err error) {
	c, err := q.consumer(consumer)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	floor, done := max(c.floor, q.log.First()), slices.Clone(c.done)
	c.mu.Unlock()
	for offset := done.after(floor); len(messages) < n && offset < q.log.End(); offset = done.after(offset) {
		for r, err := range q.log.From(offset) {
			if err != nil {
				return messages, closed(err)
			}
			if offset = r.Offset + 1; done.has(r.Offset) {
				break // jump over what is done
			}
			var m Message
			m.fill(&r)
			if messages = append(messages, m); len(messages) == n {
				break
			}
		}
	}
	return messages, nil
}

// Seek moves a consumer: messages from offset on are delivered, again if they
// were before, and those below are not. What is out is out no longer.
func (q *Queue) Seek(consumer string, offset int64) error {
	c, err := q.consumer(consumer)
	if err != nil {
		return err
	}
	if err := c.seek(offset); err != nil {
		return err
	}
	return q.persisted(context.Background())
}

// SeekTime is Seek to the first message pushed at t or later.
func (q *Queue) SeekTime(consumer string, t time.Time) error {
	offset, err := q.log.OffsetAt(t)
	if err != nil {
		return closed(err)
	}
	return q.Seek(consumer, offset)
}

// Forget ends a consumer: messages are no longer kept for it. Next with its name
// begins it anew.
func (q *Queue) Forget(consumer string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.mu.consumers[consumer]
	if q.mu.closed {
		return ErrClosed
	}
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := q.opts.Env.Now()
	records := []record.Record{{Time: now, Key: placeKey(consumer)}}
	if _, err := q.places.Append(append(records, c.takenBackLocked(now)...)...); err != nil {
		return closed(err)
	}
	c.forgetLocked()
	c.forgotten = true
	delete(q.mu.consumers, consumer)
	q.publishLocked()
	c.changed()
	q.upkeep.nudge()
	return nil
}
