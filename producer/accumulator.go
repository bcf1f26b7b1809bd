package producer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seglog/seglog/record"
)

// accumulator holds the records that are not yet acknowledged (Kafka's
// RecordAccumulator): a queue of batches for each partition, with memory from
// one pool.
type accumulator struct {
	opts     *Options
	pool     *pool
	flushing atomic.Int32 // how many Flush calls wait
	closing  atomic.Bool
	nodes    nodes
	mu       struct {
		sync.Mutex
		listed []*queue            // that got batches since the sender looked
		undone map[*batch]struct{} // every batch that is not done
	}
}

func newAccumulator(o *Options, short func()) *accumulator {
	a := &accumulator{opts: o, pool: newPool(o.BufferBytes, int64(o.BatchBytes), short)}
	a.nodes.patience = o.AvailabilityTimeout
	a.mu.undone = make(map[*batch]struct{})
	return a
}

// append adds r to a batch of a partition of t, waiting for memory MaxBlock at
// most, of which some has passed since now.
func (a *accumulator) append(ctx context.Context, t *topic, known *partitions, r *Record, now time.Time, told func(Delivery, error)) (added, error) {
	observer, observes := a.opts.Partitioner.(BatchObserver)
	if _, named := r.Partition.Number(); named {
		observes = false
	}
	for {
		q, c, err := a.place(t, known, r)
		if err != nil {
			return added{}, err
		}
		done, err := q.add(r, now, told, c, nil)
		if errors.Is(err, errNoBatch) {
			if observes && c == nil {
				observes = false // once
				observer.NewBatch(known.Topic, q.number)
				continue
			}
			done, err = a.addToNew(ctx, q, c, r, now, told)
		}
		if errors.Is(err, errMoved) {
			continue
		}
		if err == nil && c != nil {
			t.produced(a, known, c, recordBound(r), done.full)
		}
		return done, err
	}
}

// addToNew adds r to a new batch, unless somebody else made one while this
// waited for its memory.
func (a *accumulator) addToNew(ctx context.Context, q *queue, c *choice, r *Record, now time.Time, told func(Delivery, error)) (added, error) {
	need := max(a.pool.unit, sizeBound(r))
	builder, err := a.pool.take(ctx, need, a.opts.MaxBlock-time.Since(now))
	if err != nil {
		return added{}, err
	}
	fresh := &spare{builder: builder, memory: need}
	done, err := q.add(r, now, told, c, fresh)
	if fresh.builder != nil {
		a.pool.give(fresh.builder, need)
	}
	return done, err
}

// place chooses a partition. The choice is nil unless it was the adaptive one.
func (a *accumulator) place(t *topic, known *partitions, r *Record) (*queue, *choice, error) {
	n, ok := r.Partition.Number()
	if !ok {
		if n, ok = a.opts.Partitioner.Partition(*r, known.Topic); ok && (n < 0 || int(n) >= known.Partitions) {
			return nil, nil, invalidf("the partitioner chose %d of %d partitions of topic %q", n, known.Partitions, t.name)
		}
	}
	if ok {
		return known.queues[n], nil, nil
	}
	c := t.choose(a, known)
	return known.queues[c.partition], c, nil
}

// begin counts a new batch among those that are not done, end takes it out.
func (a *accumulator) begin(batches ...*batch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range batches {
		a.mu.undone[b] = struct{}{}
	}
}

func (a *accumulator) end(b *batch) {
	a.mu.Lock()
	delete(a.mu.undone, b)
	a.mu.Unlock()
}

// undone lists the batches that are not done.
func (a *accumulator) undone() []*batch {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*batch, 0, len(a.mu.undone))
	for b := range a.mu.undone {
		list = append(list, b)
	}
	return list
}

// list has the sender look at q.
func (a *accumulator) list(q *queue) {
	a.mu.Lock()
	a.mu.listed = append(a.mu.listed, q)
	a.mu.Unlock()
}

// takeListed hands out the queues listed since the last call.
func (a *accumulator) takeListed(to []*queue) []*queue {
	a.mu.Lock()
	defer a.mu.Unlock()
	to = append(to, a.mu.listed...)
	clear(a.mu.listed)
	a.mu.listed = a.mu.listed[:0]
	return to
}

// spare is memory for a new batch.
type spare struct {
	builder *record.Builder // nil once used
	memory  int64
}

var (
	errNoBatch = errors.New("producer: no batch with room")
	errMoved   = errors.New("producer: another partition was chosen meanwhile")
)

// refused puts what the record package says into this one's words.
func refused(err error) error {
	switch {
	case errors.Is(err, record.ErrTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case errors.Is(err, record.ErrInvalid):
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return err
}
