package broker

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// coordinator drives the groups of one partition of ConsumerOffsets: it has the
// lock, the clock and the log that they have not. There is no goroutine of its
// own: a timer fires when something is due.
type coordinator struct {
	b  *Broker
	p  *Partition
	mu struct {
		sync.Mutex
		groups *group.Coordinator
		timer  *time.Timer
		due    time.Time // when the timer fires; zero: it does not
		closed bool
	}
}

func newCoordinator(b *Broker, p *Partition) *coordinator {
	k := &coordinator{b: b, p: p}
	c := b.config.Load().groupConfig()
	c.Append = k.append
	c.NewMemberID = newMemberID
	k.mu.groups = group.New(c)
	return k
}

// newMemberID is a prefix, a dash and a random UUID (version 4).
func newMemberID(prefix string) string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", prefix, id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func (k *coordinator) call(do func(c *group.Coordinator, now time.Time)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do(k.mu.groups, time.Now())
	k.arm()
}

// arm sets the timer to when something is due, which any call may change. The
// caller has the lock.
func (k *coordinator) arm() {
	at, ok := k.mu.groups.Next()
	switch {
	case !ok || k.mu.closed || at.Equal(k.mu.due):
		return // a timer that has nothing to do finds nothing due
	case k.mu.timer == nil:
		k.mu.timer = time.AfterFunc(time.Until(at), k.tick)
	default:
		k.mu.timer.Reset(time.Until(at))
	}
	k.mu.due = at
}

func (k *coordinator) tick() {
	k.call(func(c *group.Coordinator, now time.Time) {
		k.mu.due = time.Time{}
		if !k.mu.closed {
			c.Tick(now)
		}
	})
}

func (k *coordinator) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.closed = true
	k.mu.groups.Close()
	if k.mu.timer != nil {
		k.mu.timer.Stop()
	}
}

// append writes a batch of the groups' own; there are no transactions yet. It is
// as safe as one that a producer is answered for, so that done is called at once:
// in order, and under the lock that the caller has.
func (k *coordinator) append(batch group.Batch, done func(first int64, code group.Code)) {
	first, err := k.write(batch)
	if err == nil {
		done(first, group.None)
		return
	}
	code := group.UnknownServerError
	var known *kerr.Error
	if errors.As(err, &known) {
		code = group.Code(known.Code)
	}
	k.b.logger.Error("broker: the groups' log has refused records", "topic", ConsumerOffsets, "partition", k.p.number, "error", err)
	done(-1, code)
}

func (k *coordinator) write(batch group.Batch) (first int64, err error) {
	b := builders.Get().(*record.Builder)
	defer builders.Put(b)
	b.Reset(record.BatchOptions{LeaderEpoch: -1})
	for _, r := range batch.Records {
		if err := b.Add(&record.Record{Key: r.Key, Value: r.Value, Time: batch.Time}); err != nil {
			return -1, tooLarge(err)
		}
	}
	raw, err := b.Build()
	if err != nil {
		return -1, tooLarge(err)
	}
	placed, err := k.p.Append(context.Background(), raw)
	return placed.First, err
}

func tooLarge(err error) error {
	if errors.Is(err, record.ErrTooLarge) {
		return failf(kerr.MessageTooLarge, "%v", err)
	}
	return failf(kerr.UnknownServerError, "%v", err)
}

// loaded ends loading. With an error there are no groups to be had: a part of
// what they were would be worse. The offsets of topics that are gone go.
func (k *coordinator) loaded(err error, gone []string) {
	if err != nil {
		k.b.logger.Error("broker: the groups of a partition cannot be read, and are not served",
			"topic", ConsumerOffsets, "partition", k.p.number, "error", err)
		k.close()
		return
	}
	k.call(func(c *group.Coordinator, now time.Time) {
		c.Loaded(now)
		for _, topic := range gone {
			c.DeleteTopic(now, topic)
		}
	})
}

// load replays the partition's log, until ctx ends.
func (k *coordinator) load(ctx context.Context) error {
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	for offset, end := k.p.log.First(), k.p.log.End(); offset < end; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		next, err := k.loadFrom(d, offset)
		if err == io.EOF { // compaction has left nothing behind it
			return nil
		}
		if err != nil {
			return err
		}
		offset = next
	}
	return nil
}

func (k *coordinator) loadFrom(d *record.Decoder, offset int64) (next int64, err error) {
	defer vfs.Unguard(vfs.Guard(), &err)
	const step = 1 << 20
	v, err := k.p.log.Borrow(offset, step)
	if err != nil {
		return offset, err
	}
	defer v.Release()
	for batch := range v.Batches() {
		if err := k.replay(d, batch); err != nil {
			return offset, err
		}
	}
	return v.Next(), nil
}

func (k *coordinator) replay(d *record.Decoder, batch record.Batch) error {
	producer := int64(group.NoProducer)
	if batch.Transactional() {
		producer = batch.ProducerID
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for r, err := range d.Records(batch) {
		if err != nil {
			return err
		}
		if batch.Control() {
			kind, err := record.ParseControl(r.Key)
			if err != nil {
				return err
			}
			if kind == record.ControlCommit || kind == record.ControlAbort {
				k.mu.groups.EndTransaction(batch.ProducerID, kind == record.ControlCommit)
			}
			continue
		}
		// What a record says is kept, and it is the log's memory.
		err := k.mu.groups.Replay(group.Record{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value)}, r.Offset, producer)
		if err != nil {
			k.b.logger.Warn("broker: a record of the groups is passed over", "topic", ConsumerOffsets, "partition", k.p.number, "error", err)
		}
	}
	return nil
}
