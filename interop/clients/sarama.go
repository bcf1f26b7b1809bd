package main

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
)

// saramaClient is IBM/sarama, at the protocol versions of one Kafka.
type saramaClient struct{ version sarama.KafkaVersion }

func (saramaClient) prepare(context.Context) error { return nil }

func (s saramaClient) config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = s.version
	config.Metadata.Retry.Max, config.Metadata.Retry.Backoff = 1000, 50*time.Millisecond
	return config
}

func (s saramaClient) produce(_ context.Context, addr string, p produce, acked func(int)) error {
	config := s.config()
	config.Producer.Return.Successes = true
	config.Producer.Retry.Max, config.Producer.Retry.Backoff = 10_000, 50*time.Millisecond
	config.Producer.RequiredAcks = map[string]sarama.RequiredAcks{"0": sarama.NoResponse, "1": sarama.WaitForLocal}[p.acks]
	if p.acks == "all" || p.acks == "idempotent" {
		config.Producer.RequiredAcks = sarama.WaitForAll
	}
	if p.acks == "idempotent" {
		config.Producer.Idempotent, config.Net.MaxOpenRequests = true, 1
	}
	if p.codec == "zstd" && !s.version.IsAtLeast(sarama.V2_1_0_0) {
		return errUnable
	}
	config.Producer.Compression = map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
		"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}[p.codec]
	producer, err := sarama.NewSyncProducer([]string{addr}, config)
	if err != nil {
		return err
	}
	defer producer.Close() //nolint:errcheck // all was acknowledged, or there was an error
	return p.chunks(func(from, to int) error {
		var messages []*sarama.ProducerMessage
		for n := from; n < to; n++ {
			messages = append(messages, &sarama.ProducerMessage{Topic: p.topic, Key: sarama.StringEncoder(key(n)), Value: sarama.StringEncoder(value(n))})
		}
		if err := producer.SendMessages(messages); err != nil {
			return err
		}
		for n := from; n < to; n++ {
			acked(n)
		}
		return nil
	})
}

func (s saramaClient) consume(ctx context.Context, addr string, c consume, got func(record)) error {
	client, err := sarama.NewClient([]string{addr}, s.config())
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // it has nothing to lose
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return err
	}
	for p := range int32(c.partitions) {
		offset := int64(sarama.OffsetOldest)
		if c.since != first {
			if offset, err = client.GetOffset(c.topic, p, c.since); err != nil {
				return err
			}
		}
		part, err := consumer.ConsumePartition(c.topic, p, offset)
		if err != nil {
			return err
		}
		defer part.AsyncClose()
		for end := part.HighWaterMarkOffset(); offset < end || end == 0; end = part.HighWaterMarkOffset() {
			select {
			case <-ctx.Done():
				return nil
			case m := <-part.Messages():
				got(record{m.Partition, m.Offset, number(m.Value)})
				offset = m.Offset + 1
			}
		}
	}
	<-ctx.Done()
	return nil
}

func (s saramaClient) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	config := s.config()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	config.Consumer.Group.Rebalance.Retry.Max, config.Consumer.Group.Rebalance.Retry.Backoff = 1000, 50*time.Millisecond
	cg, err := sarama.NewConsumerGroup([]string{addr}, group, config)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		// It ends whenever there is a rebalance, or its broker is gone.
		if err := cg.Consume(ctx, []string{topic}, saramaHandler{ctx, got}); err != nil && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return cg.Close()
}

type saramaHandler struct {
	ctx context.Context
	got func(record)
}

func (saramaHandler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (saramaHandler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (h saramaHandler) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			h.got(record{m.Partition, m.Offset, number(m.Value)})
			s.MarkMessage(m, "")
		case <-s.Context().Done():
			return nil
		}
	}
}

func (s saramaClient) asked(addr string, do func(sarama.ClusterAdmin) error) error {
	a, err := sarama.NewClusterAdmin([]string{addr}, s.config())
	if err != nil {
		return err
	}
	return errors.Join(do(a), a.Close())
}

func (s saramaClient) create(_ context.Context, addr, topic string, partitions int, key, value string) error {
	return s.asked(addr, func(a sarama.ClusterAdmin) error {
		return a.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: int32(partitions), ReplicationFactor: 1, ConfigEntries: map[string]*string{key: &value}}, false)
	})
}

func (s saramaClient) describe(_ context.Context, addr, topic string) (n int, err error) {
	err = s.asked(addr, func(a sarama.ClusterAdmin) error {
		topics, err := a.DescribeTopics([]string{topic})
		if err != nil {
			return err
		}
		n = len(topics[0].Partitions)
		return nil
	})
	return n, err
}

func (s saramaClient) configs(_ context.Context, addr, topic string) (map[string]string, error) {
	got := make(map[string]string)
	return got, s.asked(addr, func(a sarama.ClusterAdmin) error {
		results, err := a.DescribeConfigs([]*sarama.ConfigResource{{Type: sarama.TopicResource, Name: topic}}, sarama.DescribeConfigsOptions{})
		for _, r := range results {
			for _, e := range r.Configs {
				got[e.Name] = e.Value
			}
		}
		return err
	})
}

func (s saramaClient) alter(_ context.Context, addr, topic, key, value string) error {
	return s.asked(addr, func(a sarama.ClusterAdmin) error {
		if !s.version.IsAtLeast(sarama.V2_3_0_0) {
			return a.AlterConfig(sarama.TopicResource, topic, map[string]*string{key: &value}, false)
		}
		return a.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
			key: {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}}, false)
	})
}

func (s saramaClient) remove(_ context.Context, addr, topic string) error {
	return s.asked(addr, func(a sarama.ClusterAdmin) error { return a.DeleteTopic(topic) })
}
