package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// judge says what there is on a broker.
type judge struct {
	addr string
	cl   *kgo.Client
	*kadm.Client
}

func newJudge(addr string) (*judge, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(50*time.Millisecond),
		kgo.RetryTimeout(time.Minute))
	if err != nil {
		return nil, err
	}
	return &judge{addr, cl, kadm.NewClient(cl)}, nil
}

func (j *judge) close() { j.cl.Close() }

func (j *judge) topic(ctx context.Context, name string, partitions int) error {
	_, err := j.CreateTopic(ctx, int32(partitions), 1, nil, name)
	return err
}

// read returns what a topic has, in the order of each partition, as soon as
// these are want records or more. Fewer, when ctx ends, are an error.
func (j *judge) read(ctx context.Context, topic string, want int) ([]*kgo.Record, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(j.addr), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	var all []*kgo.Record
	for len(all) < want {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return all, fmt.Errorf("%s has %d records of %d: %w", topic, len(all), want, err)
		}
		all = append(all, fetches.Records()...)
	}
	return all, nil
}

// size is the number of records of a topic of which nothing was deleted.
func (j *judge) size(ctx context.Context, topic string) (int, error) {
	ends, err := j.ListEndOffsets(ctx, topic)
	if err != nil {
		return 0, err
	}
	n := 0
	ends.Each(func(o kadm.ListedOffset) {
		err = errors.Join(err, o.Err)
		n += int(o.Offset)
	})
	return n, err
}

// fill produces numbers from 0 on, turn by turn to each partition and with each
// codec, one second of time apart from base on.
func (j *judge) fill(ctx context.Context, topic string, partitions, count int, base time.Time) error {
	codecs := []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}
	each := (count + len(codecs) - 1) / len(codecs)
	for i, codec := range codecs {
		cl, err := kgo.NewClient(kgo.SeedBrokers(j.addr), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codec),
			kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err != nil {
			return err
		}
		var records []*kgo.Record
		for n := i * each; n < min((i+1)*each, count); n++ {
			records = append(records, &kgo.Record{Key: []byte(key(n)), Value: []byte(value(n)), Partition: int32(n % partitions),
				Timestamp: base.Add(time.Duration(n) * time.Second)})
		}
		err = cl.ProduceSync(ctx, records...).FirstErr()
		cl.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// until asks again until it is so, and says what was missing when ctx ends.
func until(ctx context.Context, what string, so func() error) error {
	for {
		err := so()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-time.After(30 * time.Millisecond):
		}
	}
}
