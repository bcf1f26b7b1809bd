package queue

import "context"

// manyPlaces is the size in segments from which the log of places is shortened.
const manyPlaces = 3

// shortenPlaces keeps the log of places small. Compaction would read it through to
// find what of it still counts, which is what consumers know: they say it once more,
// and all from before goes, unread.
func (q *Queue) shortenPlaces(ctx context.Context) error {
	if len(q.places.Segments()) < manyPlaces {
		return nil
	}
	return q.restatePlaces(ctx)
}

func (q *Queue) restatePlaces(ctx context.Context) error {
	first := q.places.End() // before the consumers are listed: one that is begun now says so behind it
	for _, c := range q.all() {
		c.mu.Lock()
		err := c.restateLocked()
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
	// What is said now has to be there before what it stands for is not.
	if err := q.places.Sync(ctx); err != nil {
		return err
	}
	return q.places.DropBefore(first)
}

// restateLocked writes the place and every block that has a record.
func (c *consumer) restateLocked() error {
	if c.forgotten {
		return nil
	}
	now := c.q.opts.Env.Now()
	if err := c.moveLocked(c.place, now); err != nil {
		return err
	}
	for _, b := range c.blocks.m {
		if b.written && b.to() > c.floor {
			if err := c.writeBlockLocked(b, span{}, now); err != nil {
				return err
			}
		}
	}
	return nil
}
