package main

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// franz is twmb/franz-go, which asks for the newest version of everything.
type franz struct{}

func (franz) prepare(context.Context) error { return nil }

func (franz) produce(ctx context.Context, addr string, p produce, acked func(int)) error {
	opts := []kgo.Opt{kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(p.topic), kgo.RecordRetries(1 << 20), kgo.RetryTimeout(time.Hour), kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond })}
	switch p.acks {
	case "0":
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	case "1":
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	case "all":
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	opts = append(opts, kgo.ProducerBatchCompression(map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}[p.codec]))
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer cl.Close()
	return p.chunks(func(from, to int) error {
		var records []*kgo.Record
		for n := from; n < to; n++ {
			records = append(records, kgo.KeyStringRecord(key(n), value(n)))
		}
		for _, r := range cl.ProduceSync(ctx, records...) {
			if r.Err != nil {
				return r.Err
			}
			acked(number(r.Record.Value))
		}
		return nil
	})
}

func (franz) consume(ctx context.Context, addr string, c consume, got func(record)) error {
	from := kgo.NewOffset().AtStart()
	if c.since != first {
		from = kgo.NewOffset().AfterMilli(c.since)
	}
	partitions := make(map[int32]kgo.Offset)
	for p := range int32(c.partitions) {
		partitions[p] = from
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{c.topic: partitions}))
	if err != nil {
		return err
	}
	defer cl.Close()
	return poll(ctx, cl, got)
}

func (franz) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.HeartbeatInterval(200*time.Millisecond), kgo.RetryTimeout(time.Minute),
		kgo.MetadataMinAge(100*time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }))
	if err != nil {
		return err
	}
	if err := poll(ctx, cl, got); err != nil {
		cl.Close()
		return err
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	defer cl.Close()
	return errors.Join(cl.CommitUncommittedOffsets(leave), cl.LeaveGroupContext(leave))
}

func poll(ctx context.Context, cl *kgo.Client, got func(record)) error {
	for {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		var err error
		fetches.EachError(func(_ string, _ int32, e error) {
			// What ends a session with the group is told, and then it joins again.
			var session *kgo.ErrGroupSession
			if !errors.As(e, &session) && !kgo.IsRetryableBrokerErr(e) {
				err = e
			}
		})
		if err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) { got(record{r.Partition, r.Offset, number(r.Value)}) })
	}
}

// asked calls do with a client for one request.
func (franz) asked(addr string, do func(*kadm.Client) error) error {
	cl, err := kadm.NewOptClient(kgo.SeedBrokers(addr))
	if err != nil {
		return err
	}
	defer cl.Close()
	return do(cl)
}

func (f franz) create(ctx context.Context, addr, topic string, partitions int, key, value string) error {
	return f.asked(addr, func(cl *kadm.Client) error {
		_, err := cl.CreateTopic(ctx, int32(partitions), 1, map[string]*string{key: &value}, topic)
		return err
	})
}

func (f franz) describe(ctx context.Context, addr, topic string) (n int, err error) {
	err = f.asked(addr, func(cl *kadm.Client) error {
		topics, err := cl.ListTopics(ctx, topic)
		n = len(topics[topic].Partitions)
		return errors.Join(err, topics.Error())
	})
	return n, err
}

func (f franz) configs(ctx context.Context, addr, topic string) (map[string]string, error) {
	got := make(map[string]string)
	return got, f.asked(addr, func(cl *kadm.Client) error {
		all, err := cl.DescribeTopicConfigs(ctx, topic)
		if err != nil {
			return err
		}
		config, err := all.On(topic, nil)
		for _, c := range config.Configs {
			got[c.Key] = c.MaybeValue()
		}
		return errors.Join(err, config.Err)
	})
}

func (f franz) alter(ctx context.Context, addr, topic, key, value string) error {
	return f.asked(addr, func(cl *kadm.Client) error {
		all, err := cl.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: key, Value: &value}}, topic)
		if err != nil {
			return err
		}
		one, err := all.On(topic, nil)
		return errors.Join(err, one.Err)
	})
}

func (f franz) remove(ctx context.Context, addr, topic string) error {
	return f.asked(addr, func(cl *kadm.Client) error {
		_, err := cl.DeleteTopic(ctx, topic)
		return err
	})
}
