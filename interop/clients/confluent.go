//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// confluent is confluentinc/confluent-kafka-go: librdkafka, which comes with it.
type confluent struct{}

func (confluent) prepare(context.Context) error { return nil }

func (confluent) produce(ctx context.Context, addr string, p produce, acked func(int)) error {
	config := kafka.ConfigMap{"bootstrap.servers": addr, "log_level": 0, "compression.type": p.codec, "acks": p.acks, "linger.ms": 5,
		"message.timeout.ms": 3_600_000, "retry.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
	if p.acks == "idempotent" {
		config["acks"], config["enable.idempotence"] = "all", true
	}
	producer, err := kafka.NewProducer(&config)
	if err != nil {
		return err
	}
	defer producer.Close()
	go func() {
		for range producer.Events() { //nolint:revive // what it has to say of connections
		}
	}()
	return p.chunks(func(from, to int) error {
		reports := make(chan kafka.Event, to-from)
		for n := from; n < to; n++ {
			m := &kafka.Message{TopicPartition: kafka.TopicPartition{Topic: &p.topic, Partition: kafka.PartitionAny}, Key: []byte(key(n)), Value: []byte(value(n))}
			if err := producer.Produce(m, reports); err != nil {
				return err
			}
		}
		for range to - from {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case e := <-reports:
				m := e.(*kafka.Message)
				if m.TopicPartition.Error != nil {
					return m.TopicPartition.Error
				}
				acked(number(m.Value))
			}
		}
		return nil
	})
}

func (confluent) consume(ctx context.Context, addr string, c consume, got func(record)) error {
	consumer, err := kafka.NewConsumer(&kafka.ConfigMap{"bootstrap.servers": addr, "log_level": 0, "group.id": "none", "enable.auto.commit": false})
	if err != nil {
		return err
	}
	var from []kafka.TopicPartition
	for p := range int32(c.partitions) {
		tp := kafka.TopicPartition{Topic: &c.topic, Partition: p, Offset: kafka.OffsetBeginning}
		if c.since != first {
			tp.Offset = kafka.Offset(c.since)
		}
		from = append(from, tp)
	}
	if c.since != first {
		from, err = consumer.OffsetsForTimes(from, 30_000)
	}
	if err == nil {
		err = consumer.Assign(from)
	}
	if err == nil {
		err = confluentPoll(ctx, consumer, got)
	}
	return errors.Join(err, consumer.Close())
}

func (confluent) member(ctx context.Context, addr, topic, group string, got func(record)) error {
	consumer, err := kafka.NewConsumer(&kafka.ConfigMap{"bootstrap.servers": addr, "log_level": 0, "group.id": group, "auto.offset.reset": "earliest",
		"heartbeat.interval.ms": 200, "reconnect.backoff.max.ms": 100})
	if err != nil {
		return err
	}
	if err = consumer.Subscribe(topic, nil); err == nil {
		err = confluentPoll(ctx, consumer, got)
	}
	return errors.Join(err, consumer.Close())
}

func confluentPoll(ctx context.Context, consumer *kafka.Consumer, got func(record)) error {
	for ctx.Err() == nil {
		switch e := consumer.Poll(50).(type) {
		case *kafka.Message:
			if err := e.TopicPartition.Error; err != nil {
				return err
			}
			got(record{e.TopicPartition.Partition, int64(e.TopicPartition.Offset), number(e.Value)})
		case kafka.Error:
			if e.IsFatal() {
				return e
			}
		}
	}
	return nil
}

func (confluent) asked(addr string, do func(*kafka.AdminClient) error) error {
	a, err := kafka.NewAdminClient(&kafka.ConfigMap{"bootstrap.servers": addr, "log_level": 0})
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}

func confluentFailed[R interface{ String() string }](results []R, of func(R) kafka.Error, err error) error {
	for _, r := range results {
		if e := of(r); err == nil && e.Code() != kafka.ErrNoError {
			err = e
		}
	}
	return err
}

func topicError(r kafka.TopicResult) kafka.Error           { return r.Error }
func configError(r kafka.ConfigResourceResult) kafka.Error { return r.Error }

func (c confluent) create(ctx context.Context, addr, topic string, partitions int, key, value string) error {
	return c.asked(addr, func(a *kafka.AdminClient) error {
		results, err := a.CreateTopics(ctx, []kafka.TopicSpecification{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1, Config: map[string]string{key: value}}},
			kafka.SetAdminOperationTimeout(30*time.Second))
		return confluentFailed(results, topicError, err)
	})
}

func (c confluent) describe(ctx context.Context, addr, topic string) (n int, err error) {
	err = c.asked(addr, func(a *kafka.AdminClient) error {
		all, err := a.DescribeTopics(ctx, kafka.NewTopicCollectionOfTopicNames([]string{topic}))
		if err != nil {
			return err
		}
		if len(all.TopicDescriptions) != 1 {
			return fmt.Errorf("%d topics", len(all.TopicDescriptions))
		}
		t := all.TopicDescriptions[0]
		if t.Error.Code() != kafka.ErrNoError {
			return t.Error
		}
		n = len(t.Partitions)
		return nil
	})
	return n, err
}

func (c confluent) configs(ctx context.Context, addr, topic string) (map[string]string, error) {
	got := make(map[string]string)
	return got, c.asked(addr, func(a *kafka.AdminClient) error {
		results, err := a.DescribeConfigs(ctx, []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: topic}})
		for _, r := range results {
			for name, e := range r.Config {
				got[name] = e.Value
			}
		}
		return confluentFailed(results, configError, err)
	})
}

func (c confluent) alter(ctx context.Context, addr, topic, key, value string) error {
	return c.asked(addr, func(a *kafka.AdminClient) error {
		results, err := a.IncrementalAlterConfigs(ctx, []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: topic,
			Config: []kafka.ConfigEntry{{Name: key, Value: value, IncrementalOperation: kafka.AlterConfigOpTypeSet}}}})
		return confluentFailed(results, configError, err)
	})
}

func (c confluent) remove(ctx context.Context, addr, topic string) error {
	return c.asked(addr, func(a *kafka.AdminClient) error {
		results, err := a.DeleteTopics(ctx, []string{topic}, kafka.SetAdminOperationTimeout(30*time.Second))
		return confluentFailed(results, topicError, err)
	})
}
