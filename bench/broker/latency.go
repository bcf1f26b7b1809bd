package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/seglog/seglog/record"
)

// single is a record of 100 bytes in a batch of its own.
func single() (batch, error) { return newBatch(100, record.None, 1) }

// acknowledgeRow sends single records at a rate, whether they are answered or
// not, and measures how long the answers take. Of 1,000 a second each has a
// connection, since a broker serves a connection's requests one after the other.
func acknowledgeRow(rate int, acks int16) row {
	return row{name: fmt.Sprintf("acknowledge/%d-per-s/acks=%s", rate, acksName(acks)),
		measure: func(ctx context.Context, n *node, how amounts) (figures, error) {
			connections := rate / 1000
			return n.atRate(ctx, how, func(ctx context.Context, topic string, b batch) ([]time.Duration, error) {
				all := new(errgroup.Group)
				took := make([][]time.Duration, connections)
				for i := range connections {
					all.Go(func() error {
						w, err := dial(ctx, n)
						if err != nil {
							return err
						}
						defer w.close()
						s := newSending(w, frame(produceRequest(topic, acks, b, 0), produceVersion), 1000*how.seconds)
						// Not all at one moment.
						s.first = time.Now().Add(time.Duration(i) * time.Millisecond / time.Duration(connections))
						took[i], err = s.acknowledged()
						return err
					})
				}
				err := all.Wait()
				return slices.Concat(took...), err
			})
		}}
}

// arriveRow measures the time from sending a record to its arrival at a consumer
// that waits for it.
func arriveRow(rate int) row {
	return row{name: fmt.Sprintf("arrive/%d-per-s/acks=all", rate),
		measure: func(ctx context.Context, n *node, how amounts) (figures, error) {
			return n.atRate(ctx, how, func(ctx context.Context, topic string, b batch) ([]time.Duration, error) {
				producer, err := dial(ctx, n)
				if err != nil {
					return nil, err
				}
				defer producer.close()
				consumer, err := dial(ctx, n)
				if err != nil {
					return nil, err
				}
				defer consumer.close()
				s := newSending(producer, frame(produceRequest(topic, -1, b, 0), produceVersion), rate*how.seconds)
				var took []time.Duration
				both := new(errgroup.Group)
				both.Go(func() error {
					took, err = s.arrived(consumer, topic, b)
					return err
				})
				both.Go(func() error {
					_, err := s.acknowledged()
					return err
				})
				return took, both.Wait()
			})
		}}
}

// atRate makes a topic, tells percentiles of what do says, and how many cores
// the broker used.
func (n *node) atRate(ctx context.Context, how amounts, do func(context.Context, string, batch) ([]time.Duration, error)) (figures, error) {
	ctx, cancel := context.WithTimeout(ctx, patience+10*time.Duration(how.seconds)*time.Second)
	defer cancel()
	b, err := single()
	if err != nil {
		return nil, err
	}
	topic, err := n.create(ctx, 1)
	if err != nil {
		return nil, err
	}
	before, err := n.cpu()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	took, err := do(ctx, topic, b)
	if err != nil {
		return nil, err
	}
	after, err := n.cpu()
	if err != nil {
		return nil, err
	}
	f := percentiles(took)
	f[cores] = (after - before).Seconds() / time.Since(began).Seconds()
	return f, n.delete(ctx, topic)
}

// percentiles are the least values that a share of all is not above.
func percentiles(took []time.Duration) figures {
	slices.Sort(took)
	f := make(figures)
	for unit, share := range map[string]float64{p50: 0.5, p99: 0.99, p999: 0.999} {
		f[unit] = float64(took[min(int(share*float64(len(took))), len(took)-1)]) / float64(time.Millisecond)
	}
	return f
}

// sending is requests sent over a connection at 1,000 a second.
type sending struct {
	w     *wire
	frame []byte
	first time.Time
	sent  []atomic.Int64 // when each was, since first
}

func newSending(w *wire, frame []byte, n int) *sending {
	return &sending{w: w, frame: frame, first: time.Now(), sent: make([]atomic.Int64, n)}
}

func (s *sending) since(i int) time.Duration {
	return time.Since(s.first) - time.Duration(s.sent[i].Load())
}

// acknowledged sends all and tells how long each waited for its answer.
func (s *sending) acknowledged() ([]time.Duration, error) {
	both := new(errgroup.Group)
	both.Go(func() error {
		for i := range s.sent {
			time.Sleep(time.Until(s.first.Add(time.Duration(i) * time.Millisecond)))
			s.sent[i].Store(int64(time.Since(s.first)))
			if _, err := s.w.nc.Write(s.frame); err != nil {
				return err
			}
		}
		return nil
	})
	took := make([]time.Duration, len(s.sent))
	both.Go(func() error {
		for i := range took {
			if err := s.w.skip(); err != nil {
				return err
			}
			took[i] = s.since(i)
		}
		return nil
	})
	return took, both.Wait()
}

// arrived reads a topic of single records, as they come.
func (s *sending) arrived(w *wire, topic string, b batch) ([]time.Duration, error) {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = -1, fetchWaitMillis, 1, fetchMaxBytes, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = topic
	c := &consumer{b: b, next: map[int32]int64{0: 0}, left: int64(len(s.sent))}
	took := make([]time.Duration, 0, len(s.sent))
	for c.left > 0 {
		t.Partitions = []kmsg.FetchRequestTopicPartition{fetchPart(0, c.next[0])}
		req.Topics = []kmsg.FetchRequestTopic{t}
		resp, err := w.ask(req, fetchVersion)
		if err != nil {
			return nil, err
		}
		if _, err := c.take(resp.(*kmsg.FetchResponse)); err != nil {
			return nil, err
		}
		for len(took) < int(c.next[0]) {
			took = append(took, s.since(len(took)))
		}
	}
	return took, nil
}
