package producer

import (
	"errors"
	"time"

	"github.com/seglog/seglog/record"
)

// batch is records for one partition that are sent as one. Its queue's lock
// guards it while it is open, then it is the sender's; once done is closed it
// does not change.
type batch struct {
	q       *queue
	born    time.Time
	builder *record.Builder
	memory  int64 // bytes of the pool; 0 for a part of a split batch
	count   int32
	full    bool   // takes no more
	raw     []byte // encoded; nil while it is open
	payload int    // how long raw was before compression

	slab    []Future  // where the next futures come from
	watched []watched // whose futures somebody is told of

	sendState
	done   chan struct{}
	result Result
	err    error

	parts []*batch // what it was split into
	left  int      // how many of them are not done
	whole *batch   // what it is a part of
	alone bool     // as such, of one large record
}

// watched is a record whose end somebody wants to be told.
type watched struct {
	f     *Future
	told  func(Delivery, error)
	index int32 // in the batch that has it now
}

// futures are made that many at a time.
const slabSize = 32

// newBatch begins a batch in fresh memory.
func newBatch(q *queue, fresh *spare, now time.Time) *batch {
	o := record.BatchOptions{Codec: q.codec(), LeaderEpoch: -1, MaxBytes: int(fresh.memory)}
	if o.Codec != record.None {
		o.MaxBytes = record.MaxBatchSize // how much is for hasRoom to say
	}
	fresh.builder.Reset(o)
	return &batch{q: q, born: now, builder: fresh.builder, memory: fresh.memory, done: make(chan struct{})}
}

// add takes r. A nil future says that the batch is full. The first record is
// never too many.
func (b *batch) add(r *Record, told func(Delivery, error)) (*Future, error) {
	if b.full || !b.hasRoom(r) {
		b.full = true
		return nil, nil
	}
	err := b.builder.Add(&record.Record{Time: r.Time, Key: r.Key, Value: r.Value, Headers: r.Headers})
	if errors.Is(err, record.ErrTooLarge) && b.count > 0 {
		b.full = true
		return nil, nil
	}
	if err != nil {
		return nil, refused(err)
	}
	if len(b.slab) == 0 {
		b.slab = make([]Future, slabSize)
	}
	f := &b.slab[0]
	b.slab = b.slab[1:]
	*f = Future{b: b, index: b.count, ms: r.Time.UnixMilli()}
	b.count++
	if told != nil {
		b.watched = append(b.watched, watched{f, told, b.count - 1})
	}
	return f, nil
}

// hasRoom says whether the batch stays within BatchBytes with r. Where nothing
// is compressed the builder knows. Where it is that is an estimate, and the
// records themselves may take several times BatchBytes, while there is memory.
func (b *batch) hasRoom(r *Record) bool {
	if b.count == 0 || b.q.codec() == record.None {
		return true
	}
	size, pool := int64(b.builder.Size())+recordBound(r), b.q.acc.pool
	if b.q.topic.ratio.estimate(size) > pool.unit {
		return false
	}
	for b.memory < size {
		if !pool.tryTake(pool.unit) {
			return false
		}
		b.memory += pool.unit
	}
	return true
}

// size is about how many bytes the batch is when it is sent.
func (b *batch) size() int64 {
	switch {
	case b.raw != nil:
		return int64(len(b.raw))
	case b.q.codec() == record.None:
		return int64(b.builder.Size())
	}
	return b.q.topic.ratio.estimate(int64(b.builder.Size()))
}

// holder is the batch that has record index of b after splits, and its index
// there.
func (b *batch) holder(index int32) (*batch, int32) {
	for b.parts != nil {
		i := 0
		for ; index >= b.parts[i].count; i++ {
			index -= b.parts[i].count
		}
		b = b.parts[i]
	}
	return b, index
}

// sizeBound is the most bytes a batch of r alone has.
func sizeBound(r *Record) int64 { return record.HeaderSize + recordBound(r) }

// recordBound is the most bytes r adds to a batch: lengths are varints of five
// bytes at most, the time one of ten.
func recordBound(r *Record) int64 {
	n := 5 + 1 + 10 + 5 + 5 + int64(len(r.Key)) + 5 + int64(len(r.Value)) + 5
	for i := range r.Headers {
		n += 5 + int64(len(r.Headers[i].Key)) + 5 + int64(len(r.Headers[i].Value))
	}
	return n
}
