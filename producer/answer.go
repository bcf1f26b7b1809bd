package producer

import (
	"errors"
	"fmt"
	"time"
)

// answer is what a sink said, of a parcel or of a producer id.
type answer struct {
	parcel  *parcel
	results []Result
	err     error
	id      *producerID
}

var errRequestTimeout = fmt.Errorf("%w: no answer within RequestTimeout", ErrUnavailable)

// post is called by whoever the sink has call it.
func (s *sender) post(a answer) {
	s.mail.Lock()
	s.mail.answers = append(s.mail.answers, a)
	s.mail.Unlock()
	s.nudge()
}

func (s *sender) readMail(now time.Time) {
	s.mail.Lock()
	answers := s.mail.answers
	s.mail.answers = nil
	s.mail.Unlock()
	for _, a := range answers {
		if a.id != nil {
			s.gotID(*a.id, a.err, now)
		} else {
			s.answered(a, now)
		}
	}
}

// answered takes back the batches of a request.
func (s *sender) answered(a answer, now time.Time) {
	p := a.parcel
	s.inside[p.node]--
	s.p.count.inFlight.Add(-int64(len(p.batches)))
	if a.err == nil && len(a.results) != len(p.batches) {
		a.err = fmt.Errorf("producer: the sink answered %d of %d batches", len(a.results), len(p.batches))
	}
	landed := s.flying[:0]
	for _, b := range s.flying {
		if !p.has(b) {
			landed = append(landed, b)
		}
	}
	clear(s.flying[len(landed):])
	s.flying = landed
	for i, b := range p.batches {
		r := Result{Err: a.err}
		if a.err == nil {
			r = a.results[i]
		}
		b.flying = false
		b.q.sending.flying--
		s.judge(b, r, now)
	}
}

func (p *parcel) has(b *batch) bool {
	for _, own := range p.batches {
		if own == b {
			return true
		}
	}
	return false
}

// judge decides what becomes of a batch the sink has answered.
func (s *sender) judge(b *batch, r Result, now time.Time) {
	if errors.Is(r.Err, ErrDuplicateSequence) {
		r = Result{LogStart: r.LogStart} // stored before, nobody knows where
	}
	defer b.q.sending.saw(r)
	switch {
	case b.over: // its records have failed
		if r.Err == nil && b.numbered {
			b.q.sending.took(b)
		}
		s.release(b)
	case r.Err == nil:
		if b.numbered {
			b.q.sending.took(b)
		}
		s.finish(b, r, now)
	case errors.Is(r.Err, ErrMessageTooLarge) && b.count > 1:
		s.split(b, now)
	case s.again(b, r):
		s.retry(b, r.Err, now)
	default:
		s.giveUp(b, r.Err, now)
	}
}

// again says whether the batch is to be sent again after an error, and has the
// epoch raised if it can only be so.
func (s *sender) again(b *batch, r Result) bool {
	q := &b.q.sending
	switch {
	case !b.numbered:
	case errors.Is(r.Err, ErrOutOfOrderSequence):
		// Behind a batch that is sent again that had to be. The first of all
		// was refused because one before it timed out and was never stored,
		// or because the log has lost track.
		if q.numbered[0] == b {
			q.refusedFirst()
		}
		return true
	case errors.Is(r.Err, ErrUnknownProducerID):
		switch forgot := r.LogStart > q.logStart; {
		case q.numbered[0] != b:
			return true
		case b.doubt && forgot: // it may be among what was deleted since
			return false
		}
		q.refusedFirst()
		return true
	}
	return retriable(r.Err)
}

// retry puts a batch back into its queue.
func (s *sender) retry(b *batch, err error, now time.Time) {
	b.doubt = b.doubt || doubtful(err)
	b.retryAt = now.Add(s.opts.backoff(b.attempts))
	b.attempts++
	s.p.count.retries.Add(1)
	if errors.Is(err, ErrNotLeader) {
		s.p.fetch(b.q.topic)
	}
	s.opts.Logger.Warn("producer: a batch is sent again", "topic", b.q.topic.name, "partition", b.q.number,
		"attempt", b.attempts, "error", err)
	call(s.opts.Trace.Retried, RetryEvent{b.event(), b.attempts, err})
	b.q.requeue(b)
}

// giveUp fails a batch that was sent. Its numbers are not used again, whatever
// the error says of it.
func (s *sender) giveUp(b *batch, err error, now time.Time) {
	if q := &b.q.sending; b.numbered {
		if q.numbered[0] == b && !b.doubt && !doubtful(err) {
			q.refusedFirst()
		}
		q.forget(b)
		q.restart = true
	}
	s.finish(b, Result{Err: err}, now)
}

// expire fails batches whose DeliveryTimeout has passed, and says when the next
// one's does.
func (s *sender) expire(now time.Time) (look time.Time) {
	late := func(b *batch) bool {
		at := b.born.Add(s.opts.DeliveryTimeout)
		if now.Before(at) {
			look = earlier(look, at)
			return false
		}
		return true
	}
	for _, q := range s.queues {
		for {
			q.mu.Lock()
			if len(q.mu.batches) == 0 || !late(q.mu.batches[0]) {
				q.mu.Unlock()
				break
			}
			b := q.removeLocked(0)
			b.full = true
			q.mu.Unlock()
			if b.numbered {
				q.sending.forget(b)
				q.sending.unresolved = true
			}
			s.finish(b, Result{Err: timedOut(b, now)}, now)
		}
	}
	for _, b := range s.flying {
		if b.over || !late(b) {
			continue
		}
		b.over = true
		if b.numbered {
			b.q.sending.forget(b)
			b.q.sending.unresolved = true
		}
		s.finish(b, Result{Err: timedOut(b, now)}, now)
	}
	return look
}

func timedOut(b *batch, now time.Time) error {
	if !b.sent {
		return fmt.Errorf("%w: not sent in %v", ErrTimeout, now.Sub(b.born).Round(time.Millisecond))
	}
	return fmt.Errorf("%w: sent %d times in %v, it may have been stored", ErrTimeout, b.attempts+b.inTheAir(), now.Sub(b.born).Round(time.Millisecond))
}

func (b *batch) inTheAir() int {
	if b.flying {
		return 1
	}
	return 0
}

// failAll ends everything that is not done.
func (s *sender) failAll(err error) {
	now := time.Now()
	for _, q := range s.queues {
		for b := range q.drain() {
			s.finish(b, Result{Err: err}, now)
		}
	}
	for _, b := range s.flying {
		if !b.over {
			b.over = true
			s.finish(b, Result{Err: err}, now)
		}
	}
}

// failUnnumbered ends what waits for a producer id.
func (s *sender) failUnnumbered(err error, now time.Time) {
	for _, q := range s.queues {
		for b := range q.drain() {
			if b.numbered {
				q.sending.forget(b)
				q.sending.restart = true
			}
			s.finish(b, Result{Err: err}, now)
		}
	}
}
