package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// inFlight is how many requests a producer sends before it waits for an answer,
// as Kafka's does (max.in.flight.requests.per.connection).
const inFlight = 5

// connections is how many producers or consumers there are, each with partitions
// of its own.
func (l load) connections() int32 { return min(l.partitions, 4) }

func (l load) batch() (batch, error) {
	return newBatch(l.size, l.codec, requestBytes/int(min(l.partitions/l.connections(), maxPerRequest)))
}

func produceRow(of load, acks int16) row {
	return row{name: fmt.Sprintf("produce/%s/acks=%s", of, acksName(acks)),
		measure: func(ctx context.Context, n *node, how amounts) (figures, error) {
			b, err := of.batch()
			if err != nil {
				return nil, err
			}
			topic, err := n.create(ctx, of.partitions)
			if err != nil {
				return nil, err
			}
			f, err := n.produce(ctx, topic, of, acks, b, how)
			if err != nil {
				return nil, err
			}
			return f, n.delete(ctx, topic)
		}}
}

// produce sends batches to a topic that is empty until there are enough.
func (n *node) produce(ctx context.Context, topic string, of load, acks int16, b batch, how amounts) (figures, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*patience)
	defer cancel()
	connections := of.connections()
	var producers []*producer
	for i := range connections {
		p := &producer{acks: acks}
		var own []int32
		for number := i; number < of.partitions; number += connections {
			own = append(own, number)
		}
		for len(own) > 0 {
			now := own[:min(len(own), maxPerRequest)]
			own = own[len(now):]
			p.frames = append(p.frames, frame(produceRequest(topic, acks, b, now...), produceVersion))
			p.records = append(p.records, int64(len(now))*b.records)
		}
		w, err := dial(ctx, n)
		if err != nil {
			return nil, err
		}
		defer w.close()
		p.w, p.topic = w, topic
		producers = append(producers, p)
	}
	share := how.bytes / int64(connections) / int64(of.size) // records of each producer
	m, err := n.begin()
	if err != nil {
		return nil, err
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, p := range producers {
		all.Go(func() error { return p.run(ctx, share) })
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	var records int64
	for _, p := range producers {
		records += p.sent
	}
	f, err := m.end(records * int64(of.size))
	if err != nil {
		return nil, err
	}
	there, err := producers[0].w.ends(topic, of.partitions)
	if err == nil && there != records {
		err = fmt.Errorf("%d records were sent, %d are there", records, there)
	}
	return f, err
}

// producer sends ready-made requests over one connection.
type producer struct {
	w       *wire
	topic   string
	acks    int16
	frames  [][]byte
	records []int64 // in each
	sent    int64
}

// run sends them in turns until there are so many records, and returns when the
// broker has answered, or would have.
func (p *producer) run(ctx context.Context, records int64) error {
	room := semaphore.NewWeighted(inFlight)
	answers, ctx := errgroup.WithContext(ctx)
	wanted := make(chan struct{}, inFlight)
	answers.Go(func() error {
		for range wanted {
			if err := p.w.skip(); err != nil {
				return err
			}
			room.Release(1)
		}
		return nil
	})
	answers.Go(func() error {
		defer close(wanted)
		for i := 0; p.sent < records; i++ {
			f := p.frames[i%len(p.frames)]
			if p.acks != 0 {
				if err := room.Acquire(ctx, 1); err != nil {
					return err
				}
			}
			if _, err := p.w.nc.Write(f); err != nil {
				return err
			}
			p.sent += p.records[i%len(p.frames)]
			if p.acks != 0 {
				wanted <- struct{}{}
			}
		}
		return nil
	})
	if err := answers.Wait(); err != nil {
		return err
	}
	if p.acks == 0 { // a request is served when those before it on the connection are
		_, err := p.w.ends(p.topic, 1)
		return err
	}
	return nil
}

// measuring is a measurement under way.
type measuring struct {
	n    *node
	from time.Time
	cpu  time.Duration
}

func (n *node) begin() (*measuring, error) {
	cpu, err := n.cpu()
	return &measuring{n, time.Now(), cpu}, err
}

// end tells throughput and CPU time of so many bytes of records.
func (m *measuring) end(bytes int64) (figures, error) {
	took := time.Since(m.from)
	cpu, err := m.n.cpu()
	gb := float64(bytes) / 1e9
	return figures{mbPerSecond: gb * 1000 / took.Seconds(), cpuPerGB: (cpu - m.cpu).Seconds() / gb}, err
}
