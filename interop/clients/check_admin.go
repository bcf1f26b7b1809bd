package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

// admin: a topic is created, described, configured and deleted. What a client
// cannot do is done for it.
func (b *bench) admin(ctx context.Context) error {
	const setting = "retention.ms"
	topic, able := b.name+"-admin", false
	do := func(what string, theirs, ours func() error) error {
		err := theirs()
		if errors.Is(err, errUnable) {
			err = ours()
		} else {
			able = true
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	nothing := func() error { return nil }

	hour := "3600000"
	err := do("create", func() error { return b.create(ctx, b.addr, topic, 3, setting, hour) }, func() error {
		_, err := b.CreateTopic(ctx, 3, 1, map[string]*string{setting: &hour}, topic)
		return err
	})
	if err != nil {
		return err
	}
	if err := until(ctx, "what was created", func() error { return b.is(ctx, topic, 3, setting, hour) }); err != nil {
		return err
	}
	err = do("describe", func() error {
		n, err := b.describe(ctx, b.addr, topic)
		if err == nil && n != 3 {
			err = fmt.Errorf("%d partitions", n)
		}
		return err
	}, nothing)
	if err != nil {
		return err
	}
	day := "86400000"
	err = do("alter", func() error { return b.alter(ctx, b.addr, topic, setting, day) }, func() error {
		_, err := b.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: setting, Value: &day}}, topic)
		return err
	})
	if err != nil {
		return err
	}
	if err := b.is(ctx, topic, 3, setting, day); err != nil {
		return err
	}
	err = do("configs", func() error {
		got, err := b.configs(ctx, b.addr, topic)
		if err == nil && (got[setting] != day || got["cleanup.policy"] != "delete") {
			err = fmt.Errorf("%v", got)
		}
		return err
	}, nothing)
	if err != nil {
		return err
	}
	err = do("delete", func() error { return b.remove(ctx, b.addr, topic) }, func() error {
		_, err := b.DeleteTopic(ctx, topic)
		return err
	})
	if err != nil {
		return err
	}
	topics, err := b.ListTopics(ctx)
	switch {
	case err != nil:
		return err
	case topics.Has(topic):
		return fmt.Errorf("%s is still there", topic)
	case !able:
		return errUnable
	}
	return nil
}

// is says what is wrong with a topic.
func (b *bench) is(ctx context.Context, topic string, partitions int, setting, want string) error {
	topics, err := b.ListTopics(ctx, topic)
	if err != nil {
		return err
	}
	if err := topics[topic].Err; err != nil {
		return err
	}
	if n := len(topics[topic].Partitions); n != partitions {
		return fmt.Errorf("%s has %d partitions", topic, n)
	}
	all, err := b.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return err
	}
	config, err := all.On(topic, nil)
	if err = errors.Join(err, config.Err); err != nil {
		return err
	}
	for _, c := range config.Configs {
		if c.Key == setting && c.MaybeValue() == want && c.Source.String() == "DYNAMIC_TOPIC_CONFIG" {
			return nil
		}
	}
	return fmt.Errorf("%s: %s is not %s", topic, setting, want)
}
