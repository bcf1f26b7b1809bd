package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// segmentio is segmentio/kafka-go, whose groups do not negotiate versions.
type segmentio struct{}

func (segmentio) prepare(context.Context) error { return nil }

func (segmentio) produce(ctx context.Context, addr string, p produce, acked func(int)) error {
	if p.acks == "idempotent" {
		return errUnable
	}
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	w := &kafka.Writer{Addr: kafka.TCP(addr), Topic: p.topic, BatchSize: inFlight, BatchTimeout: 5 * time.Millisecond, MaxAttempts: math.MaxInt32,
		Balancer: &kafka.Hash{}, WriteBackoffMax: 50 * time.Millisecond, Transport: transport}
	w.RequiredAcks = map[string]kafka.RequiredAcks{"0": kafka.RequireNone, "1": kafka.RequireOne, "all": kafka.RequireAll}[p.acks]
	w.Compression = map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}[p.codec]
	err := p.chunks(func(from, to int) error {
		var messages []kafka.Message
		for n := from; n < to; n++ {
			messages = append(messages, kafka.Message{Key: []byte(key(n)), Value: []byte(value(n))})
		}
		// It does not try again what is refused with other than a broker's own
		// error, as where nobody listens.
		for err := w.WriteMessages(ctx, messages...); err != nil; err = w.WriteMessages(ctx, messages...) {
			if ctx.Err() != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		for n := from; n < to; n++ {
			acked(n)
		}
		return nil
	})
	return errors.Join(err, w.Close())
}

func (segmentio) consume(ctx context.Context, addr string, c consume, got func(record)) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	for p := range c.partitions {
		wg.Go(func() {
			r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{addr}, Topic: c.topic, Partition: p, MaxWait: 100 * time.Millisecond})
			defer r.Close() //nolint:errcheck // it has nothing to lose
			err := r.SetOffset(kafka.FirstOffset)
			if c.since != first {
				err = r.SetOffsetAt(ctx, time.UnixMilli(c.since))
			}
			for err == nil {
				var m kafka.Message
				if m, err = r.ReadMessage(ctx); err == nil {
					mu.Lock()
					got(record{int32(m.Partition), m.Offset, number(m.Value)})
					mu.Unlock()
				}
			}
			if ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
			}
		})
	}
	wg.Wait()
	return failed
}

func (segmentio) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{addr}, GroupID: group, Topic: topic, StartOffset: kafka.FirstOffset,
		HeartbeatInterval: 200 * time.Millisecond, MaxWait: 100 * time.Millisecond, JoinGroupBackoff: 100 * time.Millisecond})
	for ctx.Err() == nil {
		m, err := r.FetchMessage(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return errors.Join(err, r.Close())
		}
		got(record{int32(m.Partition), m.Offset, number(m.Value)})
		// What is not committed for a rebalance or a broker that is gone comes again.
		_ = r.CommitMessages(ctx, m)
	}
	return r.Close()
}

func (segmentio) client(addr string) *kafka.Client { return &kafka.Client{Addr: kafka.TCP(addr)} }

func (s segmentio) create(ctx context.Context, addr, topic string, partitions int, key, value string) error {
	resp, err := s.client(addr).CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions,
		ReplicationFactor: 1, ConfigEntries: []kafka.ConfigEntry{{ConfigName: key, ConfigValue: value}}}}})
	if err != nil {
		return err
	}
	return resp.Errors[topic]
}

func (s segmentio) describe(ctx context.Context, addr, topic string) (int, error) {
	resp, err := s.client(addr).Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, err
	}
	if len(resp.Topics) != 1 {
		return 0, fmt.Errorf("%d topics", len(resp.Topics))
	}
	return len(resp.Topics[0].Partitions), resp.Topics[0].Error
}

func (s segmentio) configs(ctx context.Context, addr, topic string) (map[string]string, error) {
	resp, err := s.client(addr).DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}}})
	if err != nil {
		return nil, err
	}
	got := make(map[string]string)
	for _, r := range resp.Resources {
		err = errors.Join(err, r.Error)
		for _, e := range r.ConfigEntries {
			got[e.ConfigName] = e.ConfigValue
		}
	}
	return got, err
}

func (s segmentio) alter(ctx context.Context, addr, topic, key, value string) error {
	resp, err := s.client(addr).IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: key, Value: value, ConfigOperation: kafka.ConfigOperationSet}}}}})
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		err = errors.Join(err, r.Error)
	}
	return err
}

func (s segmentio) remove(ctx context.Context, addr, topic string) error {
	resp, err := s.client(addr).DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		return err
	}
	return resp.Errors[topic]
}
