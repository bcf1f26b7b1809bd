package broker

import (
	"context"
	"errors"
	"time"

	"github.com/seglog/seglog/log"
)

// maintain does the upkeep of the logs until ctx ends.
func (b *Broker) maintain(ctx context.Context) {
	c := b.config.Load()
	err := b.logs.Maintain(ctx, log.Every{
		Sync:    c.duration("log.flush.offset.checkpoint.interval.ms"),
		Retain:  c.duration("log.retention.check.interval.ms"),
		Compact: c.duration("log.cleaner.backoff.ms"),
	})
	if err != nil && !errors.Is(err, log.ErrClosed) {
		b.logger.Error("broker: upkeep has ended", "error", err)
	}
}

// flush syncs the logs of topics that have a flush.ms, until ctx ends.
func (b *Broker) flush(ctx context.Context) {
	const look = time.Second // the shortest time that is kept
	since := make(map[*log.Log]time.Time)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			since = b.flushDue(ctx, since, now)
		}
	}
}

// flushDue syncs the logs that have had something to sync for as long as their
// topic allows. since says when each was first seen to have; it returns the same
// of now.
func (b *Broker) flushDue(ctx context.Context, since map[*log.Log]time.Time, now time.Time) map[*log.Log]time.Time {
	waiting := make(map[*log.Log]time.Time)
	for _, t := range b.Topics() {
		every := t.config.Load().flushEvery
		if every == 0 {
			continue
		}
		for _, p := range t.Partitions() {
			if p.log == nil || p.log.Durable() == p.log.End() {
				continue
			}
			first, seen := since[p.log]
			if !seen {
				first = now
			}
			if now.Sub(first) < every-time.Second {
				waiting[p.log] = first
				continue
			}
			if err := p.log.Sync(ctx); err != nil && !errors.Is(err, log.ErrClosed) && ctx.Err() == nil {
				b.logger.Error("broker: flush.ms: a log could not be synced", "topic", t.name, "partition", p.number, "error", err)
			}
		}
	}
	return waiting
}
