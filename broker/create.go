package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/internal/kafkadir"
)

// maxPartitions is how many partitions one request may ask for, as in Kafka.
const maxPartitions = 10_000

// TopicSpec says what topic to create.
type TopicSpec struct {
	Name string
	// Partitions is their number; 0 is num.partitions.
	Partitions int32
	// Configs are the topic's own settings: see TopicSettings.
	Configs map[string]string
	// ValidateOnly says to create nothing, and only to tell what would fail.
	ValidateOnly bool
}

// CreateTopic creates a topic. Its partitions can be written when it returns, and
// survive a loss of power. The Topic of one that was only validated has its
// settings, and no partitions.
//
// Errors are INVALID_TOPIC_EXCEPTION for a name that is none or collides with
// another (. and _ are the same in some metrics), TOPIC_ALREADY_EXISTS,
// INVALID_PARTITIONS, POLICY_VIOLATION for too many of them, INVALID_CONFIG.
func (b *Broker) CreateTopic(ctx context.Context, spec TopicSpec) (*Topic, error) {
	one := b.CreateTopics(ctx, []TopicSpec{spec})[0]
	return one.Topic, one.Err
}

// Created is what became of a TopicSpec.
type Created struct {
	Topic *Topic
	Err   error
}

// CreateTopics creates topics as CreateTopic does, each whatever becomes of the
// others, and tells of each in order. They are there together at the end. What is
// to be and what is there is written down once for all of them.
func (b *Broker) CreateTopics(ctx context.Context, specs []TopicSpec) []Created {
	all := make([]Created, len(specs))
	err := b.changing(func() error {
		var list []*creation
		names := make(map[string]string) // canonical, of this request's topics
		for i, spec := range specs {
			s, err := b.specified(spec, names)
			if err != nil {
				all[i].Err = err
				continue
			}
			all[i].Topic = b.newTopic(spec.Name, s)
			if !spec.ValidateOnly {
				list = append(list, &creation{&all[i], s})
			}
			names[canonical(spec.Name)] = spec.Name
		}
		b.create(ctx, list)
		return nil
	})
	for i := range all {
		if err != nil {
			all[i].Err = err
		}
		if all[i].Err != nil {
			all[i].Topic = nil
		}
	}
	return all
}

// creation is a topic that is being created.
type creation struct {
	*Created
	state *topicState
}

// create makes topics. The caller has change.
func (b *Broker) create(ctx context.Context, list []*creation) {
	if len(list) == 0 {
		return
	}
	topics := b.change.state.Topics
	for _, c := range list {
		topics[c.Topic.name] = c.state
	}
	if err := b.save(); err != nil {
		for _, c := range list {
			delete(topics, c.Topic.name) // it may be in the file; then the next Open removes it
			c.Err = err
		}
		return
	}
	all := make([]*making, len(list))
	for i, c := range list {
		all[i] = c.Topic.making(c.state.Partitions)
	}
	b.makeAll(ctx, all...)
	for i, c := range list {
		if c.Err = all[i].failed(); c.Err == nil {
			c.state.Settled = c.state.Partitions
		}
	}
	saved := b.save()
	for i, c := range list {
		if err := cmp.Or(c.Err, saved); err != nil {
			c.Err = b.undo(c.Topic.name, c.state, 0, err)
			continue
		}
		c.Topic.partitions.Store(&all[i].list)
		b.put(c.Topic)
		b.coordinate(c.Topic)
		b.listeners.tell()
	}
}

// specified holds a spec to the rules, and against the canonical names of others
// that are being created.
func (b *Broker) specified(spec TopicSpec, names map[string]string) (*topicState, error) {
	if !kafkadir.ValidTopic(spec.Name) || spec.Name == kafkadir.ClusterMetadata {
		return nil, failf(kerr.InvalidTopicException,
			"%q is no name of a topic: it takes 1 to 249 ASCII letters, digits, '.', '_' and '-', and is neither '.' nor '..'", spec.Name)
	}
	b.mu.RLock()
	_, exists := b.mu.byName[spec.Name]
	other, collides := b.mu.canonical[canonical(spec.Name)]
	b.mu.RUnlock()
	if !collides {
		other, collides = names[canonical(spec.Name)]
	}
	switch _, left := b.change.state.Topics[spec.Name]; {
	case exists, other == spec.Name:
		return nil, failf(kerr.TopicAlreadyExists, "topic %q exists", spec.Name)
	case left:
		return nil, failf(kerr.TopicAlreadyExists, "topic %q was not completely removed: see the log", spec.Name)
	case collides:
		return nil, failf(kerr.InvalidTopicException, "topic %q differs from the topic %q only in '.' and '_'", spec.Name, other)
	}
	n := spec.Partitions
	if n == 0 {
		n = int32(b.config.Load().int("num.partitions"))
	}
	switch {
	case n < 1:
		return nil, failf(kerr.InvalidPartitions, "%d partitions, want 1 at least", n)
	case n > maxPartitions:
		return nil, failf(kerr.PolicyViolation, "%d partitions at a time, at most %d", n, maxPartitions)
	}
	configs, err := parseTopic(spec.Configs)
	if err != nil {
		return nil, failf(kerr.InvalidConfig, "%v", err)
	}
	return &topicState{ID: kafkadir.NewID().String(), Partitions: n, Configs: configs}, nil
}

// undo takes away the partitions from..Partitions-1 of a topic that could not be
// made, and returns why they could not. If that fails, too, the next Open does it.
func (b *Broker) undo(name string, s *topicState, from int32, why error) error {
	why = fmt.Errorf("topic %s: %w", name, why)
	s.Settled = from
	for number := from; number < s.Partitions; number++ {
		if err := b.removePartition(name, number, s.id()); err != nil {
			b.logger.Error("broker: what was made of a topic could not be removed", "topic", name, "error", err)
			return storageError(errors.Join(why, err))
		}
	}
	if s.Partitions = from; from == 0 {
		delete(b.change.state.Topics, name)
	}
	return storageError(errors.Join(why, b.save()))
}

// CreatePartitions extends a topic to count partitions, or if validateOnly says
// whether that can be done. Errors are UNKNOWN_TOPIC_OR_PARTITION,
// INVALID_PARTITIONS for a count that is no increase, POLICY_VIOLATION for one
// that is too large.
func (b *Broker) CreatePartitions(ctx context.Context, topic string, count int32, validateOnly bool) error {
	return b.changingTopic(topic, func(t *Topic, s *topicState) error {
		switch had := s.Partitions; {
		case count <= had:
			return failf(kerr.InvalidPartitions, "topic %s has %d partitions; %d is no increase", topic, had, count)
		case count-had > maxPartitions:
			return failf(kerr.PolicyViolation, "%d partitions at a time, at most %d", count-had, maxPartitions)
		case validateOnly:
			return nil
		}
		return b.extend(ctx, t, s, count)
	})
}

// extend makes the partitions of a topic count. The caller has change.
func (b *Broker) extend(ctx context.Context, t *Topic, s *topicState, count int32) error {
	had := s.Partitions
	s.Partitions = count
	if err := b.save(); err != nil {
		s.Partitions = had
		return err
	}
	made := t.making(count)
	b.makeAll(ctx, made)
	err := made.failed()
	if err == nil {
		s.Settled = count
		err = b.save()
	}
	if err != nil {
		return b.undo(t.name, s, had, err)
	}
	t.partitions.Store(&made.list)
	t.count.Store(count)
	b.listeners.tell()
	return nil
}

// DeleteTopic deletes a topic, durably. Its files are unlinked
// log.segment.delete.delay.ms later. Who waits for its records is woken.
func (b *Broker) DeleteTopic(topic string) error {
	return b.changingTopic(topic, func(t *Topic, s *topicState) error {
		s.Deleting = true
		if err := b.save(); err != nil {
			s.Deleting = false
			return err
		}
		t.gone.Store(true)
		b.remove(t)
		t.moved()
		b.forget(t)
		b.listeners.tell()
		for number := range s.Partitions {
			if err := b.removePartition(topic, number, t.id); err != nil {
				b.logger.Error("broker: a partition could not be deleted; opening the broker again tries again", "topic", topic, "error", err)
				return storageError(err)
			}
		}
		delete(b.change.state.Topics, topic)
		return b.save()
	})
}
