package producer

import (
	"context"
	"fmt"
	"math"
	"time"
)

// identity is the producer's id and epoch, given out by the sink.
type identity struct {
	current  producerID
	known    bool
	asking   bool
	failures int
	retryAt  time.Time
}

// identified says whether the producer has an id, and asks for one if it has
// not.
func (s *sender) identified(now time.Time) bool {
	ids := &s.ids
	if ids.known || ids.asking || now.Before(ids.retryAt) {
		return ids.known
	}
	ids.asking, ids.retryAt = true, time.Time{}
	s.p.group.Go(func() {
		ctx, cancel := context.WithTimeoutCause(s.calls, s.opts.RequestTimeout, errRequestTimeout)
		defer cancel()
		id, epoch, err := s.sink.ProducerID(ctx)
		s.post(answer{id: &producerID{id, epoch}, err: err})
	})
	return false
}

// gotID is the answer.
func (s *sender) gotID(id producerID, err error, now time.Time) {
	ids := &s.ids
	ids.asking = false
	switch {
	case err == nil:
		ids.current, ids.known, ids.failures = id, true, 0
	case retriable(err):
		ids.retryAt = now.Add(s.opts.backoff(ids.failures))
		ids.failures++
		s.opts.Logger.Warn("producer: no producer id, asking again", "error", err, "attempt", ids.failures)
	default:
		// What waits for an id fails; what comes later asks again.
		s.opts.Logger.Error("producer: no producer id", "error", err)
		s.failUnnumbered(err, now)
	}
}

// raise gives a partition a new epoch, or a new id where there is no epoch
// left. It is false while that is being asked for.
func (s *sender) raise(q *queue, now time.Time) bool {
	ids := &s.ids
	if q.sending.producer == ids.current && ids.known { // else it was raised already
		if ids.current.epoch == math.MaxInt16 {
			ids.known = false
		} else {
			ids.current.epoch++
		}
	}
	if !s.identified(now) {
		return false
	}
	for _, b := range q.sending.doubtful() {
		q.remove(b)
		s.finish(b, Result{Err: fmt.Errorf("%w: it may have been stored", ErrUnknownProducerID)}, now)
	}
	q.sending.begin(ids.current)
	return true
}
