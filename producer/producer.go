package producer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Producer sends records to a Sink. All methods may be called concurrently.
type Producer struct {
	opts        Options
	sink        Sink
	acc         *accumulator
	sender      *sender
	callbacks   *callbacks
	topics      sync.Map // name to *topic
	intercepted bool     // somebody has an OnAck
	group       sync.WaitGroup
	count       counters
	closing     sync.Once
	closed      chan struct{}
	gate        sync.RWMutex // Send reads; Close writes, so that nothing comes after
}

// New begins a producer, with goroutines that Close ends.
func New(sink Sink, o Options) (*Producer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Producer{opts: o, sink: sink, callbacks: newCallbacks(), closed: make(chan struct{})}
	p.intercepted = slices.ContainsFunc(o.Interceptors, func(i Interceptor) bool { return i.OnAck != nil })
	p.acc = newAccumulator(&p.opts, func() { p.sender.nudge() })
	p.sender = newSender(p)
	go p.sender.run()
	go p.callbacks.run()
	return p, nil
}

// Send puts a record on its way and returns at once, except that it waits for
// the topic's metadata and for memory, MaxBlock at most and no longer than ctx.
// The record's bytes are copied. What goes wrong is for the future to say.
//
// Records of one goroutine to one partition are stored in the order of its
// calls, with idempotence or one in flight.
func (p *Producer) Send(ctx context.Context, r Record) *Future { return p.SendFunc(ctx, r, nil) }

// SendFunc is Send with a callback for when the record was acknowledged or has
// failed. Callbacks run one after the other; one that takes long holds up the
// others, but nothing else.
func (p *Producer) SendFunc(ctx context.Context, r Record, told func(Delivery, error)) *Future {
	if len(p.opts.Interceptors) > 0 {
		r = p.intercept(r)
		told = p.acknowledged(told)
	}
	now := time.Now()
	if r.Time.IsZero() {
		r.Time = now
	}
	f, err := p.send(ctx, &r, now, told)
	if err != nil {
		return p.refuse(r, told, err)
	}
	return f
}

// refuse is the future of a record that comes into no batch.
func (p *Producer) refuse(r Record, told func(Delivery, error), err error) *Future {
	p.count.refused.Add(1)
	f := &Future{refused: &refusal{topic: r.Topic, partition: r.Partition, time: r.Time, err: err}}
	if told != nil {
		p.callbacks.add(watched{f: f, told: told})
	}
	return f
}

// SendSync is Send and Wait.
func (p *Producer) SendSync(ctx context.Context, r Record) (Delivery, error) {
	return p.Send(ctx, r).Wait(ctx)
}

func (p *Producer) send(ctx context.Context, r *Record, now time.Time, told func(Delivery, error)) (*Future, error) {
	if r.Topic == "" {
		return nil, invalidf("no topic")
	}
	if n, ok := r.Partition.Number(); ok && n < 0 {
		return nil, invalidf("partition %d", n)
	}
	if bound := sizeBound(r); bound > int64(p.opts.MaxRequestBytes) {
		return nil, fmt.Errorf("%w: a record of up to %d bytes, MaxRequestBytes is %d", ErrTooLarge, bound, p.opts.MaxRequestBytes)
	} else if bound > p.opts.BufferBytes {
		return nil, fmt.Errorf("%w: a record of up to %d bytes, BufferBytes is %d", ErrTooLarge, bound, p.opts.BufferBytes)
	}
	p.gate.RLock()
	defer p.gate.RUnlock()
	if p.acc.closing.Load() {
		return nil, ErrClosed
	}
	t := p.topic(r.Topic)
	known := t.known.Load()
	if n, _ := r.Partition.Number(); known == nil || int(n) >= known.Partitions {
		var err error
		if known, err = p.await(ctx, t, r, p.opts.MaxBlock); err != nil {
			return nil, err
		}
	}
	done, err := p.acc.append(ctx, t, known, r, now, told)
	if done.begun {
		p.sender.nudge()
	}
	return done.f, err
}

// Flush sends what there is without lingering and returns when all records
// given to Send before have been acknowledged or have failed, and their
// callbacks have returned. Called by a callback it does not wait for callbacks.
func (p *Producer) Flush(ctx context.Context) error {
	p.acc.flushing.Add(1)
	defer p.acc.flushing.Add(-1)
	for _, b := range p.acc.undone() {
		p.sender.nudge()
		select {
		case <-b.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if inCallback() {
		return nil
	}
	return p.callbacks.passed(ctx)
}

// Close refuses further records, sends what there is and returns when all have
// been acknowledged or have failed and their callbacks have returned. If ctx
// ends before, what is left fails with ErrClosed, and Close returns ctx's error;
// what had been sent may have been stored. Called by a callback it does not wait
// for callbacks. Closing again waits as well.
func (p *Producer) Close(ctx context.Context) error {
	p.closing.Do(func() {
		close(p.closed)
		p.acc.pool.close(ErrClosed)
		p.gate.Lock() // those in Send have come to their end
		p.acc.closing.Store(true)
		p.gate.Unlock()
		p.sender.nudge()
	})
	var err error
	select {
	case <-p.sender.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
		p.sender.abort(ErrClosed)
		p.sender.nudge()
		<-p.sender.ended
	}
	p.sender.abort(ErrClosed) // metadata requests nobody waits for
	p.group.Wait()
	p.callbacks.close()
	if !inCallback() {
		<-p.callbacks.ended
	}
	return err
}
