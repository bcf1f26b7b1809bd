package group

import (
	"fmt"
	"time"

	"github.com/seglog/seglog/internal/coordinator"
)

// ErrUnknown says that a record is of a kind that these groups do not have:
// of the groups of KIP-848, KIP-932 or KIP-1071, or of a later Kafka.
var ErrUnknown = coordinator.ErrUnknown

// ErrMalformed says that a record's bytes are not what its version promises.
var ErrMalformed = coordinator.ErrMalformed

// Replay takes a record of the coordinator's partition, with its offset there.
// Records come in their order, those of transactions with their producer, which
// for others is NoProducer; markers are told to EndTransaction. A record in error
// changes nothing.
func (c *Coordinator) Replay(r Record, offset, producerID int64) error {
	key, err := coordinator.OffsetsKey(r.Key)
	if err == nil {
		switch key := key.(type) {
		case coordinator.OffsetKey:
			err = c.replayOffset(key, r.Value, offset, producerID)
		case string:
			err = c.replayGroup(key, r.Value)
		}
	}
	if err != nil {
		return fmt.Errorf("group: the record at offset %d of the groups' partition: %w", offset, err)
	}
	return nil
}

func (c *Coordinator) replayed(id string) *group {
	g := c.groups[id]
	if g == nil {
		g = newGroup(id, time.Time{})
		c.groups[id] = g
	}
	return g
}

func (c *Coordinator) replayOffset(k coordinator.OffsetKey, value []byte, offset, producerID int64) error {
	tp := TopicPartition{Topic: k.Topic, Partition: k.Partition}
	if value == nil {
		if g := c.groups[k.Group]; g != nil {
			g.offsets.drop(tp, offset)
		}
		return nil
	}
	v, err := coordinator.ParseOffset(value)
	if err != nil {
		return err
	}
	o := Offset{Offset: v.Offset, LeaderEpoch: v.LeaderEpoch, Metadata: v.Metadata, Committed: time.UnixMilli(v.CommitTimestamp), TopicID: v.TopicID, position: offset}
	if v.ExpireTimestamp >= 0 {
		o.expires = time.UnixMilli(v.ExpireTimestamp)
	}
	g := c.replayed(k.Group)
	if producerID != NoProducer {
		g.offsets.hold(producerID, tp, o)
	} else {
		g.offsets.put(tp, o)
	}
	return nil
}

// replayGroup makes the group as the record has it. With members it is stable,
// as they are about to go on by heartbeats.
func (c *Coordinator) replayGroup(id string, value []byte) error {
	kept := newOffsets()
	if g := c.groups[id]; g != nil {
		kept = g.offsets
	}
	if value == nil {
		delete(c.groups, id)
		if len(kept.committed) > 0 || len(kept.pending) > 0 {
			c.replayed(id).offsets = kept
		}
		return nil
	}
	v, err := coordinator.ParseGroup(value)
	if err != nil {
		return err
	}
	g := newGroup(id, time.Time{})
	g.offsets = kept
	if v.CurrentStateTimestamp >= 0 {
		g.since = time.UnixMilli(v.CurrentStateTimestamp)
	}
	g.protocolType, g.generation = v.ProtocolType, v.Generation
	if v.Protocol != nil {
		g.protocol = *v.Protocol
	}
	for _, m := range v.Members {
		rebalance := m.RebalanceTimeout
		if rebalance < 0 {
			rebalance = m.SessionTimeout
		}
		g.add(&member{id: m.MemberID, instance: m.GroupInstanceID, clientID: m.ClientID, clientHost: m.ClientHost,
			session: time.Duration(m.SessionTimeout) * time.Millisecond, rebalance: time.Duration(rebalance) * time.Millisecond,
			protocols: []Protocol{{g.protocol, m.Subscription}}, assignment: m.Assignment})
	}
	if len(g.members) > 0 {
		g.state = Stable
		if v.Leader != nil {
			g.leader = *v.Leader
		}
	}
	g.learnTopics()
	c.groups[id] = g
	return nil
}

// Loaded ends loading: all records were replayed. Members get a session from
// now on.
func (c *Coordinator) Loaded(now time.Time) {
	c.now, c.loading = now, false
	for _, g := range c.inOrder() {
		if g.protocolType == "" && g.since.IsZero() && len(g.offsets.committed) == 0 && len(g.offsets.pending) == 0 {
			delete(c.groups, g.id) // its offsets were deleted since
			continue
		}
		for _, m := range g.members {
			c.touch(now, g, m)
		}
		if c.config.MaxSize > 0 && len(g.members) > c.config.MaxSize {
			c.prepare(now, g)
		}
	}
	c.expireEvery(now)
}
