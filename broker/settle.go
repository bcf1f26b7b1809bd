package broker

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/log"
)

// settle brings to its end what a crash has left of a topic that was being
// created, extended or deleted: nobody was told of the first two.
func (b *Broker) settle() error {
	s, changed := b.change.state, false
	for _, name := range slices.Sorted(maps.Keys(s.Topics)) {
		t := s.Topics[name]
		keep := t.Settled
		if t.Deleting {
			keep = 0
			b.groups.orphans = append(b.groups.orphans, name)
		} else if t.Settled == t.Partitions {
			continue
		}
		b.logger.Warn("broker: bringing to its end what was not done when the process ended", "topic", name, "deleting", t.Deleting,
			"partitions", t.Partitions, "kept", keep)
		for number := keep; number < t.Partitions; number++ {
			if err := b.removePartition(name, number, t.id()); err != nil {
				return err
			}
		}
		t.Partitions, changed = keep, true
		if keep == 0 {
			delete(s.Topics, name)
		}
	}
	if !changed {
		return nil
	}
	return b.save()
}

// removePartition deletes the log of a partition of the topic with that id, if
// there is one.
func (b *Broker) removePartition(topic string, number int32, id TopicID) error {
	name := directory(topic, number)
	p, ok := b.logs.Partition(name)
	if !ok || p.TopicID != id && p.TopicID != (TopicID{}) {
		return nil // there is none, or it is another's
	}
	if err := b.logs.Delete(name); err != nil && !errors.Is(err, log.ErrNoPartition) {
		return err
	}
	return nil
}

// foreign is the configuration given to a topic that is only known from its
// directories: nothing of it is dropped, whatever it was before.
func foreign(topic string) map[string]string {
	if Internal(topic) {
		return map[string]string{"cleanup.policy": "compact"}
	}
	return map[string]string{"retention.bytes": "-1", "retention.ms": "-1"}
}

// findTopics makes topics of what the state and the directories tell.
func (b *Broker) findTopics() error {
	b.mu.byName, b.mu.byID, b.mu.canonical = make(map[string]*Topic), make(map[TopicID]*Topic), make(map[string]string)
	found := make(map[string]log.Partition)
	taken := make(map[string]int32) // partitions of topics that the state does not know
	s := b.change.state
	for _, p := range b.logs.Partitions() {
		if p.State != log.PartitionLive {
			continue
		}
		found[p.Name] = p
		if s.Topics[p.Topic] == nil {
			taken[p.Topic] = max(taken[p.Topic], p.Number+1)
		}
		if p.Log != nil { // ids that are in use here, in a directory that was Kafka's
			for _, producer := range p.Log.Producers() {
				s.NextProducerID = max(s.NextProducerID, producer.ID+1)
			}
		}
	}
	for name, n := range taken {
		if n > maxPartitions {
			return fmt.Errorf("broker: the directories tell of %d partitions of topic %s, at most %d are served", n, name, maxPartitions)
		}
		id := TopicID{}
		for number := range n {
			if p, ok := found[directory(name, number)]; ok && p.TopicID != (TopicID{}) && id == (TopicID{}) {
				id = p.TopicID
			}
		}
		if id == (TopicID{}) {
			id = kafkadir.NewID()
		}
		s.Topics[name] = &topicState{ID: id.String(), Partitions: n, Settled: n, Configs: foreign(name)}
		b.logger.Warn("broker: a topic was found of which only its directories tell; nothing of it will be dropped until its retention is configured",
			"topic", name, "partitions", n)
	}
	if len(taken) > 0 {
		if err := b.save(); err != nil {
			return err
		}
	}
	for name, t := range s.Topics {
		b.put(b.found(name, t, found))
	}
	return nil
}

// found makes a topic of its state and the logs there are.
func (b *Broker) found(name string, s *topicState, logs map[string]log.Partition) *Topic {
	t := b.newTopic(name, s)
	list := make([]*Partition, s.Partitions)
	for number := range s.Partitions {
		p := &Partition{topic: t, number: number}
		list[number] = p
		switch l, ok := logs[directory(name, number)]; {
		case !ok:
			p.err = errors.New("its directory is missing")
		case l.TopicID != (TopicID{}) && l.TopicID != t.id:
			p.err = fmt.Errorf("its directory is of another topic of that name: its id is %s, not %s", l.TopicID, t.id)
		case l.Err != nil:
			p.err = l.Err
		default:
			p.log = l.Log
			p.err = b.lead(p)
		}
		if p.err != nil {
			p.log = nil
			b.logger.Error("broker: a partition does not serve", "topic", name, "partition", number, "error", p.err)
		}
	}
	t.partitions.Store(&list)
	return t
}

func (b *Broker) newTopic(name string, s *topicState) *Topic {
	t := &Topic{name: name, id: s.id()}
	t.own.Store(&s.Configs)
	t.config.Store(b.config.Load().topic(s.Configs, b.base))
	t.partitions.Store(new([]*Partition))
	t.count.Store(s.Partitions)
	return t
}

// lead begins a leader epoch: the first one, or another after a crash, since what
// consumers have read of the old one may be lost to it (KIP-320).
func (b *Broker) lead(p *Partition) error {
	epoch := p.log.LeaderEpoch()
	if epoch >= 0 && p.log.Recovery().Clean {
		return nil
	}
	return p.log.SetLeaderEpoch(epoch + 1)
}
