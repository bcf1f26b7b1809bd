package main

import (
	"context"
	"fmt"
	"time"
)

// consume: by assignment, from the first record, all of them in each partition's
// order and at their offsets, in whatever codec.
func (b *bench) consume(ctx context.Context) error {
	return b.consumed(ctx, "consume", 0)
}

// seek: from a time on, the first record of that time or later, in each partition.
func (b *bench) seek(ctx context.Context) error {
	return b.consumed(ctx, "seek", b.records/3)
}

func (b *bench) consumed(ctx context.Context, what string, from int) error {
	const partitions = 3
	topic, base := b.name+"-"+what, time.Now().Add(-24*time.Hour).Truncate(time.Second)
	if err := b.topic(ctx, topic, partitions); err != nil {
		return err
	}
	if err := b.fill(ctx, topic, partitions, b.records, base); err != nil {
		return err
	}
	c := consume{topic: topic, partitions: partitions, since: first}
	if from > 0 {
		c.since = base.Add(time.Duration(from)*time.Second - time.Millisecond*500).UnixMilli()
	}
	next := make([]int64, partitions)
	for n := range from {
		next[n%partitions]++
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	missing := b.records - from
	var wrong error
	err := b.client.consume(within, b.addr, c, func(r record) {
		if within.Err() != nil {
			return
		}
		want := int64(r.number / partitions)
		if r.number%partitions != int(r.partition) || r.offset != want || r.offset != next[r.partition] {
			wrong = fmt.Errorf("%s: got %d as %d@%d, want %d@%d and offset %d to be next", topic, r.number, r.partition, r.offset, r.number%partitions, want, next[r.partition])
			cancel()
			return
		}
		next[r.partition]++
		if missing--; missing == 0 {
			cancel()
		}
	})
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		return err
	case missing > 0:
		return fmt.Errorf("%s: %d of %d records are missing; next in each partition: %v", topic, missing, b.records-from, next)
	}
	return nil
}
