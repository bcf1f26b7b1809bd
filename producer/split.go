package producer

import (
	"errors"
	"time"

	"github.com/seglog/seglog/record"
)

// split makes smaller batches out of one that the sink refused as too large and
// sends them in its place, with its numbers. That is not an attempt that failed.
func (s *sender) split(b *batch, now time.Time) {
	b.q.topic.ratio.reset()
	parts, err := s.parts(b)
	if err != nil { // what was encoded here cannot be encoded again
		s.giveUp(b, err, now)
		return
	}
	call(s.opts.Trace.Split, SplitEvent{b.event(), len(parts)})
	s.p.count.splits.Add(1)
	b.parts, b.left = parts, len(parts)
	s.acc.begin(parts...)
	if b.numbered {
		b.q.sending.replace(b, parts)
		for _, part := range parts {
			record.SetProducer(part.raw, part.identity())
		}
	}
	b.q.requeue(parts...)
	s.release(b)
}

// parts encodes a batch's records again, in batches of BatchBytes at most and of
// half the batch, so that there are two at least.
func (s *sender) parts(b *batch) (parts []*batch, err error) {
	whole, err := record.Parse(b.raw)
	if err != nil {
		return nil, err
	}
	var d record.Decoder
	payload, err := d.Payload(whole)
	if err != nil {
		return nil, err
	}
	limit := min(s.opts.BatchBytes, record.HeaderSize+len(payload)/2)
	for r, err := range d.Records(whole) {
		if err != nil {
			return nil, err
		}
		if n := len(parts); n > 0 {
			if added, err := parts[n-1].readd(&r); err != nil || added {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		part, err := newPart(b, &r, limit)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	first := int32(0)
	for _, part := range parts {
		if part.raw, err = part.builder.Build(); err != nil {
			return nil, err
		}
		part.payload = part.builder.Size()
		for ; len(b.watched) > 0 && b.watched[0].index < first+part.count; b.watched = b.watched[1:] {
			w := b.watched[0]
			w.index -= first
			part.watched = append(part.watched, w)
		}
		first += part.count
	}
	return parts, nil
}

// newPart begins a part of b with r, which may be larger than the limit. Its
// memory is not the pool's: there may be none, and what b had comes back now.
func newPart(b *batch, r *record.Record, limit int) (*batch, error) {
	part := &batch{q: b.q, born: b.born, builder: new(record.Builder), full: true, whole: b, done: make(chan struct{})}
	o := record.BatchOptions{Codec: b.q.codec(), LeaderEpoch: -1, MaxBytes: limit}
	part.builder.Reset(o)
	added, err := part.readd(r)
	if err == nil && !added {
		o.MaxBytes = record.MaxBatchSize
		part.builder.Reset(o)
		_, err = part.readd(r)
		part.alone = true
	}
	return part, err
}

// readd adds a record to a part, false if it does not fit.
func (b *batch) readd(r *record.Record) (added bool, err error) {
	if b.alone {
		return false, nil
	}
	err = b.builder.Add(r)
	if errors.Is(err, record.ErrTooLarge) {
		return false, nil
	}
	if err == nil {
		b.count++
	}
	return err == nil, err
}
