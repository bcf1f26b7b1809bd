package logsink

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/producer"
	"github.com/seglog/seglog/record"
)

// Sink is a producer.Sink over logs, which stay the caller's: they are to be
// open as long as the producer is, and have other users as they like.
type Sink struct {
	partitions func(topic string) ([]*log.Log, error)
	mu         sync.Mutex
	nodes      map[*log.Log]producer.Node
}

// New makes a sink. partitions is asked for a topic's logs, partition 0 first;
// an error that is not to be final is producer.ErrUnavailable.
func New(partitions func(topic string) ([]*log.Log, error)) *Sink {
	return &Sink{partitions: partitions, nodes: make(map[*log.Log]producer.Node)}
}

// One is a sink of one log, the only partition of the topic.
func One(topic string, l *log.Log) *Sink {
	return New(func(name string) ([]*log.Log, error) {
		if name != topic {
			return nil, fmt.Errorf("logsink: topic %q, there is only %q", name, topic)
		}
		return []*log.Log{l}, nil
	})
}

// Topic implements producer.Sink.
func (s *Sink) Topic(_ context.Context, name string) ([]producer.PartitionInfo, error) {
	logs, err := s.partitions(name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	infos := make([]producer.PartitionInfo, len(logs))
	for i, l := range logs {
		node, ok := s.nodes[l]
		if !ok {
			node = producer.Node(len(s.nodes))
			s.nodes[l] = node
		}
		infos[i].Leader = node
	}
	return infos, nil
}

// ProducerID implements producer.Sink: a random id, since logs that know
// nothing of one another have no common counter.
func (s *Sink) ProducerID(context.Context) (id int64, epoch int16, err error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, 0, err
	}
	return int64(binary.BigEndian.Uint64(b[:]) >> 1), 0, nil
}

// Produce implements producer.Sink. Batches are appended before it returns; only
// syncs are waited for elsewhere.
func (s *Sink) Produce(ctx context.Context, _ producer.Node, r *producer.Request, done func([]producer.Result, error)) {
	results := make([]producer.Result, len(r.Batches))
	var touched []*log.Log
	for i := range r.Batches {
		l, err := s.log(&r.Batches[i])
		if err == nil {
			results[i], err = appendTo(l, r.Batches[i].Raw)
		}
		if err != nil {
			results[i].Err = err
			continue
		}
		touched = append(touched, l)
	}
	if r.Acks != producer.AcksAll || len(touched) == 0 {
		done(results, nil)
		return
	}
	go func() {
		i := 0
		for n := range results {
			if results[n].Err == nil {
				if err := touched[i].Sync(ctx); err != nil {
					results[n] = producer.Result{Err: in(err), LogStart: results[n].LogStart}
				}
				i++
			}
		}
		done(results, nil)
	}()
}

// log is the log of a batch, asked for each time: it may have been opened again.
func (s *Sink) log(b *producer.Batch) (*log.Log, error) {
	logs, err := s.partitions(b.Topic)
	if err != nil {
		return nil, err
	}
	if int(b.Partition) >= len(logs) {
		return nil, fmt.Errorf("%w: topic %q has %d partitions now, not %d", producer.ErrNotLeader, b.Topic, len(logs), b.Partition)
	}
	return logs[b.Partition], nil
}

func appendTo(l *log.Log, raw []byte) (r producer.Result, err error) {
	record.SetBaseOffset(raw, 0) // an append that failed may have set it
	a, err := l.AppendBatch(raw, log.FromClient)
	r.LogStart = l.First()
	if err != nil {
		return r, in(err)
	}
	r.Offset, r.Stored, r.AppendTime = a.First, true, a.Time
	return r, nil
}

// in puts a log's errors into the producer's words. A full disk is retried, and
// so is a sync that did not come to its end; nothing that is retried is stored
// twice, as long as the producer is idempotent.
func in(err error) error {
	for _, pair := range []struct{ of, as error }{
		{log.ErrOutOfOrderSequence, producer.ErrOutOfOrderSequence},
		{log.ErrProducerFenced, producer.ErrFenced},
		{record.ErrTooLarge, producer.ErrMessageTooLarge},
		{syscall.ENOSPC, producer.ErrUnavailable},
		{context.DeadlineExceeded, producer.ErrUnavailable},
		{producer.ErrUnavailable, producer.ErrUnavailable},
	} {
		if errors.Is(err, pair.of) && !errors.Is(err, log.ErrFailed) {
			return fmt.Errorf("%w: %w", pair.as, err)
		}
	}
	return err
}
