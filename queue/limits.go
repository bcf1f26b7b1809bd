package queue

import (
	"context"
	"fmt"

	"github.com/seglog/seglog/record"
)

// pushWithin is Append within MaxBytes.
func (q *Queue) pushWithin(ctx context.Context, records []record.Record) (first int64, err error) {
	release, err := q.makeRoom(ctx, records)
	if err != nil {
		return 0, err
	}
	defer release()
	return q.log.Append(records...)
}

// makeRoom sees to it that records fit MaxBytes, as Full says. What it returns
// is to be called when they have been appended, or have not.
func (q *Queue) makeRoom(ctx context.Context, records []record.Record) (release func(), err error) {
	need := int64(record.HeaderSize)
	for i := range records {
		need += bound(&records[i])
	}
	if most := q.opts.MaxBytes - q.opts.SegmentBytes; need > most {
		return nil, fmt.Errorf("queue: %w: %d bytes or less, MaxBytes of %d have room for %d at once", record.ErrTooLarge, need, q.opts.MaxBytes, most)
	}
	q.reserved.Add(need)
	release = func() { q.reserved.Add(-need); q.room.Notify() }
	for !q.fits() {
		switch dropped, err := q.dropConsumed(); {
		case err != nil:
			release()
			return nil, err
		case dropped:
			continue
		}
		switch q.opts.Full {
		case Refuse:
			used := q.log.Stats().Bytes
			release()
			return nil, fmt.Errorf("%w: %d of %d bytes are taken, %d more are wanted", ErrFull, used, q.opts.MaxBytes, need)
		case Block:
			err = q.room.Wait(ctx, q.fits)
		case DropOldest:
			err = q.dropOldest()
		}
		if err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// fits says whether all that is being pushed has room.
func (q *Queue) fits() bool { return q.log.Stats().Bytes+q.reserved.Load() <= q.opts.MaxBytes }

// bound is the most bytes a record takes in a batch.
func bound(r *record.Record) int64 {
	n := int64(36 + len(r.Key) + len(r.Value))
	for _, h := range r.Headers {
		n += int64(10 + len(h.Key) + len(h.Value))
	}
	return n
}

// dropOldest drops the oldest segment, whoever has not consumed it.
func (q *Queue) dropOldest() error {
	segments := q.log.Segments()
	if len(segments) < 2 {
		return fmt.Errorf("%w: one segment of %d bytes is all there is, MaxBytes is %d", ErrFull, segments[0].Bytes, q.opts.MaxBytes)
	}
	return q.dropBefore(segments[1].Base)
}

// dropBefore drops messages, and counts those that a consumer had not done.
func (q *Queue) dropBefore(offset int64) error {
	if err := q.log.DropBefore(offset); err != nil {
		return err
	}
	for _, c := range q.all() {
		c.mu.Lock()
		err := c.trimLocked(offset)
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
	q.upkeep.bound(q.log)
	q.room.Notify()
	return nil
}

// dropConsumed drops the segments that every consumer is through with. Where
// there is no consumer nothing is consumed.
func (q *Queue) dropConsumed() (dropped bool, err error) {
	all, floor := q.all(), q.log.End()
	for _, c := range all {
		c.mu.Lock()
		floor = min(floor, c.floor)
		c.mu.Unlock()
	}
	if len(all) == 0 {
		return false, nil
	}
	base := q.log.First()
	for _, s := range q.log.Segments() {
		if s.Base <= floor {
			base = max(base, s.Base)
		}
	}
	if base <= q.log.Segments()[0].Base {
		return false, nil
	}
	return true, q.dropBefore(base)
}

// dropAged drops what is older than MaxAge.
func (q *Queue) dropAged() error {
	offset, err := q.log.OffsetAt(q.opts.Env.Now().Add(-q.opts.MaxAge))
	if err != nil {
		return err
	}
	if offset <= q.log.First() {
		return nil
	}
	return q.dropBefore(offset)
}

func (q *Queue) all() (list []*consumer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.mu.consumers {
		list = append(list, c)
	}
	return list
}
