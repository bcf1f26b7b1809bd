package producer

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/seglog/seglog/record"
)

// parcel is a request being filled.
type parcel struct {
	node    Node
	batches []*batch
	bytes   int64
}

// send hands out requests while there is something ready and a node with room,
// and returns when there may be more, zero if something else will tell.
func (s *sender) send(now time.Time) (look time.Time) {
	for {
		var parcels []*parcel
		look, parcels = s.fill(now)
		if len(parcels) == 0 {
			return look
		}
		for _, p := range parcels {
			s.dispatch(p, now)
		}
	}
}

// fill takes the oldest batch of each partition that is ready, at most one
// request for each node. Who was served goes to the end of the line, so that
// with more partitions than fit a request none starves.
func (s *sender) fill(now time.Time) (look time.Time, parcels []*parcel) {
	short := s.acc.pool.exhausted()
	hurry := short || s.acc.closing.Load() || s.acc.flushing.Load() > 0
	kept, served := s.kept[:0], s.served[:0]
	for _, q := range s.queues {
		if s.retire(q) {
			continue
		}
		node, ready, at := s.ready(q, hurry, now)
		if !ready {
			look = earlier(look, at)
			kept = append(kept, q)
			continue
		}
		i := slices.IndexFunc(parcels, func(p *parcel) bool { return p.node == node })
		if i < 0 && s.inside[node] >= s.opts.MaxInFlight {
			s.acc.nodes.ready(node, now)
			kept = append(kept, q)
			continue
		}
		room := int64(math.MaxInt64) // the first batch always goes
		if i >= 0 {
			room = int64(s.opts.MaxRequestBytes) - parcels[i].bytes
		}
		b := s.take(q, room, now)
		if b == nil {
			kept = append(kept, q)
			continue
		}
		if i < 0 {
			i, parcels = len(parcels), append(parcels, &parcel{node: node})
		}
		parcels[i].batches = append(parcels[i].batches, b)
		parcels[i].bytes += int64(len(b.raw))
		served = append(served, q)
	}
	s.kept, s.queues = s.queues, append(kept, served...)
	clear(s.kept)
	s.served = served[:0]
	return look, parcels
}

// retire takes a queue without batches off the list.
func (s *sender) retire(q *queue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.mu.batches) > 0 {
		return false
	}
	q.mu.listed = false
	return true
}

// ready says whether the first batch of q may go now, to which node, or else
// when to ask again; zero where a wake-up will tell.
func (s *sender) ready(q *queue, hurry bool, now time.Time) (node Node, ok bool, at time.Time) {
	if s.opts.Idempotence == IdempotenceOn && q.sending.settle() && !s.raise(q, now) {
		return 0, false, s.ids.retryAt
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.mu.batches) == 0 {
		return 0, false, at
	}
	b := q.mu.batches[0]
	known := q.topic.known.Load()
	if now.Sub(known.fetched) > s.opts.MetadataMaxAge {
		s.p.fetch(q.topic)
	}
	node, led := q.topic.leader(q.number)
	if !led {
		_, at, _ = s.p.fetch(q.topic)
		return 0, false, at
	}
	if s.opts.MaxInFlight == 1 && q.sending.flying > 0 {
		return 0, false, at
	}
	if b.attempts > 0 && node == b.node { // a new leader is tried at once
		if at = b.retryAt; now.Before(at) {
			return 0, false, at
		}
	}
	if s.opts.Idempotence == IdempotenceOn {
		switch {
		case b.numbered && !q.sending.mayFly(b), !b.numbered && !q.sending.mayNumber():
			return 0, false, time.Time{}
		case !b.numbered && !s.identified(now):
			return 0, false, s.ids.retryAt
		}
	}
	if hurry || b.full || b.attempts > 0 || len(q.mu.batches) > 1 {
		return node, true, at
	}
	if at = b.born.Add(s.opts.Linger); now.Before(at) {
		return 0, false, at
	}
	return node, true, at
}

// take removes the first batch of q and finishes it, unless it is larger than
// room or cannot be finished.
func (s *sender) take(q *queue, room int64, now time.Time) *batch {
	q.mu.Lock()
	if len(q.mu.batches) == 0 || q.mu.batches[0].size() > room {
		q.mu.Unlock()
		return nil
	}
	b := q.removeLocked(0)
	b.full = true
	q.mu.Unlock()
	if err := s.seal(b); err != nil {
		s.finish(b, Result{Err: err}, now)
		return nil
	}
	return b
}

// seal encodes a batch and gives it its number.
func (s *sender) seal(b *batch) (err error) {
	number := s.opts.Idempotence == IdempotenceOn && !b.numbered
	if number {
		b.q.sending.number(b, s.ids.current)
	}
	if b.raw != nil {
		if number {
			record.SetProducer(b.raw, b.identity())
		}
		return nil
	}
	if number {
		b.builder.SetProducer(b.identity())
	}
	b.payload = b.builder.Size()
	if b.raw, err = b.builder.Build(); err != nil {
		return refused(err)
	}
	if b.q.codec() != record.None {
		b.q.topic.ratio.observe(b.payload, len(b.raw))
	}
	return nil
}

// dispatch hands a request to the sink.
func (s *sender) dispatch(p *parcel, now time.Time) {
	r := &Request{Acks: s.opts.Acks, Timeout: s.opts.RequestTimeout, Batches: make([]Batch, len(p.batches))}
	for i, b := range p.batches {
		r.Batches[i] = Batch{Topic: b.q.topic.name, Partition: b.q.number, Raw: b.raw}
		b.flying, b.node = true, p.node
		b.q.sending.flying++
		if !b.sent {
			b.sent = true
			s.p.count.queueTime.Add(int64(now.Sub(b.born)))
		}
		call(s.opts.Trace.Sent, SentEvent{b.event(), p.node, now.Sub(b.born)})
	}
	s.inside[p.node]++
	s.flying = append(s.flying, p.batches...)
	s.p.count.inFlight.Add(int64(len(p.batches)))
	s.acc.nodes.drained(p.node, now)
	s.p.count.requests.Add(1)
	ctx, cancel := context.WithTimeoutCause(s.calls, s.opts.RequestTimeout, errRequestTimeout)
	s.sink.Produce(ctx, p.node, r, func(results []Result, err error) {
		cancel()
		s.post(answer{parcel: p, results: results, err: err})
	})
}
