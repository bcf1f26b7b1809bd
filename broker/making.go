package broker

import (
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// atATime is how many partitions are made at a time: what takes long is to wait for
// syncs, which go on beside each other.
const atATime = 16

// making are partitions of a topic that are being made, those that it has before
// them.
type making struct {
	topic *Topic
	list  []*Partition
	from  int32
	why   atomic.Pointer[error] // the first one that failed
}

func (t *Topic) making(to int32) *making {
	had := t.Partitions()
	return &making{topic: t, list: append(slices.Clone(had), make([]*Partition, int(to)-len(had))...), from: int32(len(had))}
}

func (m *making) fail(err error) {
	if err != nil {
		m.why.CompareAndSwap(nil, &err)
	}
}

// failed is why they are not all there.
func (m *making) failed() error {
	if why := m.why.Load(); why != nil {
		return *why
	}
	return nil
}

// makeAll creates the logs of partitions of several topics. Of a topic of which one
// fails the others may be there, or not.
func (b *Broker) makeAll(ctx context.Context, all ...*making) {
	var some errgroup.Group
	some.SetLimit(atATime)
	for _, m := range all {
		for number := m.from; int(number) < len(m.list) && m.failed() == nil; number++ {
			some.Go(func() error {
				m.fail(b.makeOne(ctx, m, number))
				return nil
			})
		}
	}
	_ = some.Wait() // each topic has its own error
}

func (b *Broker) makeOne(ctx context.Context, m *making, number int32) error {
	l, err := b.logs.Create(ctx, directory(m.topic.name, number), m.topic.id)
	if err != nil {
		return err
	}
	m.list[number] = &Partition{topic: m.topic, number: number, log: l}
	return b.lead(m.list[number])
}
