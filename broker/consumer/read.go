package consumer

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// wish is a partition to read and what was known of it then.
type wish struct {
	p       *partition
	at      *broker.Partition
	offset  int64
	changed uint64
}

// ready is how many records were read and may be returned.
func (c *Consumer) ready() (n int) {
	for _, p := range c.mu.order {
		if !p.paused {
			n += len(p.buffer)
		}
	}
	return n
}

// wanted are the partitions of which there is nothing to return, in turn.
func (c *Consumer) wanted(now time.Time) (list []wish) {
	for i := range c.mu.order {
		p := c.mu.order[(c.mu.turn+i)%len(c.mu.order)]
		if p.at != nil && p.positioned && !p.paused && len(p.buffer) == 0 && !p.retry.After(now) {
			list = append(list, wish{p, p.at, p.position, p.changed})
		}
	}
	return list
}

// got is what was read of a partition.
type got struct {
	records []Record
	bytes   int64 // of keys and values
	next    int64 // the offset to go on at
	err     error
}

// read reads the partitions of which there is nothing, without the lock, and has
// those that are as they were have it. If it is to wait it does so until there is
// something, or something to do.
func (c *Consumer) read(ctx context.Context, wait bool) {
	now := time.Now()
	wanted := c.wanted(now)
	var most time.Duration
	if wait {
		most = 24 * time.Hour // something wakes it
		if due := c.due(now); !due.IsZero() {
			most = due.Sub(now)
		}
	}
	all := make([]got, len(wanted))
	func() {
		c.mu.Unlock()
		defer c.mu.Lock()
		if len(wanted) == 0 {
			c.sleep(ctx, most)
			return
		}
		partitions := make([]broker.FetchPartition, len(wanted))
		for i, w := range wanted {
			partitions[i] = broker.FetchPartition{Partition: w.at, Offset: w.offset, MaxBytes: c.opts.MaxPartitionBytes}
		}
		fetched := c.b.Fetch(ctx, broker.FetchOptions{MinBytes: 1, MaxWait: most, MaxBytes: c.opts.MaxBytes,
			Wake: c.wake, Isolation: c.opts.Isolation}, partitions)
		defer broker.Release(fetched)
		for i, w := range wanted {
			all[i] = w.decode(&fetched[i], &c.opts)
		}
	}()
	for i, w := range wanted {
		if c.mu.parts[w.p.tp] == w.p && w.p.changed == w.changed && w.p.at == w.at {
			c.keep(w.p, all[i])
		}
	}
}

// sleep waits, for at most so long, where there is nothing to read.
func (c *Consumer) sleep(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-c.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// decode copies the records of a read that the isolation level shows, from the
// wish's offset on: a batch may begin before it. What is compressed may be more
// than was read, and ends where that is too much.
func (w *wish) decode(f *broker.Fetched, o *Options) (g got) {
	g = got{next: w.offset, err: f.Err}
	if f.View == nil {
		return g
	}
	defer vfs.Unguard(vfs.Guard(), &g.err)
	n := 0
	for b := range f.View.Batches() {
		n += int(b.Count)
	}
	g.records = make([]Record, 0, max(min(n, 1<<16), 0))
	for b := range f.View.Batches() {
		if !b.Control() && !(o.Isolation == log.ReadCommitted && aborted(f.Aborted, &b.BatchHeader)) {
			if g.err = w.records(&g, b); g.err != nil {
				g.err = &broker.Error{Code: kerr.KafkaStorageError, Detail: g.err.Error()}
				return g
			}
		}
		if g.next = b.NextOffset(); g.bytes >= o.MaxPartitionBytes {
			break
		}
	}
	return g
}

// records appends a batch's records, in memory of their own.
func (w *wish) records(g *got, b record.Batch) error {
	own, err := record.Verified(bytes.Clone(b.Bytes()))
	if err != nil {
		return err
	}
	before := len(g.records)
	var d record.Decoder // of its own: what it decompresses to is the records'
	for r, err := range d.Records(own) {
		if err != nil {
			g.records = g.records[:before]
			return err
		}
		if r.Offset < w.offset {
			continue
		}
		r.Headers = slices.Clone(r.Headers) // the decoder's
		g.bytes += int64(len(r.Key) + len(r.Value))
		g.records = append(g.records, Record{Topic: w.p.tp.Topic, Partition: w.p.tp.Partition, LeaderEpoch: b.LeaderEpoch, Record: r})
	}
	return nil
}

// aborted says whether a batch is of one of these transactions.
func aborted(list []log.AbortedTxn, b *record.BatchHeader) bool {
	return b.Transactional() && slices.ContainsFunc(list, func(a log.AbortedTxn) bool {
		return a.ProducerID == b.ProducerID && a.First <= b.BaseOffset && b.BaseOffset <= a.Last
	})
}

// keep has a partition have what was read.
func (c *Consumer) keep(p *partition, g got) {
	p.buffer, p.next = g.records, g.next
	if len(g.records) == 0 {
		p.position = g.next // nothing of that is for this reader
	}
	switch err := g.err; {
	case err == nil:
	case len(g.records) > 0: // met again behind them
	case errors.Is(err, kerr.OffsetOutOfRange) && c.opts.Reset != None:
		c.opts.Logger.Warn("consumer: a position is reset", "topic", p.tp.Topic, "partition", p.tp.Partition, "position", p.position, "error", err)
		p.displace(atReset)
	default: // if its topic is gone, that is found out before this is told
		p.fail(time.Now(), err)
	}
}
