package broker

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/group"
)

// groups are the coordinators of consumer groups, one for each partition of
// ConsumerOffsets. There are none until that topic is there. Their number stays
// what it was when the broker was opened or the topic made, also if the topic
// gets more partitions, as in Kafka: groups would have to move.
type groups struct {
	mu struct {
		sync.RWMutex
		of  *Topic
		all []*coordinator // by the partition's number
	}
	// orphans are topics whose deletion a crash has interrupted.
	orphans []string
}

// Group calls do with the coordinator of a group, holding that one's lock: do
// must neither block nor call the broker. now is to be passed on to the
// coordinator. NOT_COORDINATOR says that there is none, since nobody has called
// OffsetsTopic yet.
func (b *Broker) Group(id string, do func(c *group.Coordinator, now time.Time)) error {
	b.groups.mu.RLock()
	all := b.groups.mu.all
	b.groups.mu.RUnlock()
	if len(all) == 0 {
		return failf(kerr.NotCoordinator, "there is no topic %s yet", ConsumerOffsets)
	}
	all[group.Partition(id, int32(len(all)))].call(do)
	return nil
}

// Groups calls do with all coordinators, one after the other, as Group does.
func (b *Broker) Groups(do func(c *group.Coordinator, now time.Time)) {
	b.groups.mu.RLock()
	all := b.groups.mu.all
	b.groups.mu.RUnlock()
	for _, k := range all {
		k.call(do)
	}
}

// OffsetsTopic is ConsumerOffsets, which is created by the settings for it
// (offsets.topic.num.partitions) if need be. With it groups have coordinators.
func (b *Broker) OffsetsTopic(ctx context.Context) (*Topic, error) {
	if t, err := b.Topic(ConsumerOffsets); err == nil {
		return t, nil
	}
	t, err := b.CreateTopic(ctx, TopicSpec{
		Name:       ConsumerOffsets,
		Partitions: int32(b.ConfigInt("offsets.topic.num.partitions")),
		Configs: map[string]string{
			"cleanup.policy":   "compact",
			"compression.type": "producer",
			"segment.bytes":    strconv.FormatInt(b.ConfigInt("offsets.topic.segment.bytes"), 10),
		},
	})
	if errors.Is(err, kerr.TopicAlreadyExists) { // somebody else was faster
		return b.Topic(ConsumerOffsets)
	}
	return t, err
}

// coordinate makes the coordinators of ConsumerOffsets, which is there from now
// on. The caller has change, or is opening the broker.
func (b *Broker) coordinate(t *Topic) {
	if t.name != ConsumerOffsets {
		return
	}
	var all, filled []*coordinator
	for _, p := range t.Partitions() {
		k := newCoordinator(b, p)
		all = append(all, k)
		if p.log != nil && p.log.First() < p.log.End() {
			filled = append(filled, k)
			continue
		}
		k.loaded(p.err, nil) // there is nothing to wait for
	}
	if len(filled) > 0 {
		b.upkeep.Go(func() {
			for _, k := range filled {
				k.loaded(k.load(b.running), b.groups.orphans)
			}
		})
	}
	b.groups.mu.Lock()
	defer b.groups.mu.Unlock()
	b.groups.mu.of, b.groups.mu.all = t, all
}

// forget has the groups forget what they know of a topic that is gone: its
// offsets, or if it is their own topic all.
func (b *Broker) forget(t *Topic) {
	b.groups.mu.RLock()
	own := b.groups.mu.of == t
	b.groups.mu.RUnlock()
	if own {
		b.closeGroups()
		return
	}
	b.Groups(func(c *group.Coordinator, now time.Time) { c.DeleteTopic(now, t.name) })
}

// closeGroups ends all coordinators. Who waits is told NOT_COORDINATOR.
func (b *Broker) closeGroups() {
	b.groups.mu.Lock()
	all := b.groups.mu.all
	b.groups.mu.of, b.groups.mu.all = nil, nil
	b.groups.mu.Unlock()
	for _, k := range all {
		k.close()
	}
}

// groupConfig is what a coordinator is told of the broker's configuration.
func (c *config) groupConfig() group.Config {
	positive := func(d time.Duration) time.Duration { return max(d, time.Nanosecond) } // 0 would be the default
	g := group.Config{
		MinSessionTimeout:     positive(c.duration("group.min.session.timeout.ms")),
		MaxSessionTimeout:     positive(c.duration("group.max.session.timeout.ms")),
		InitialRebalanceDelay: c.duration("group.initial.rebalance.delay.ms"),
		MaxSize:               int(c.int("group.max.size")),
		OffsetsRetention:      time.Duration(min(c.int("offsets.retention.minutes"), math.MaxInt64/int64(time.Minute))) * time.Minute,
		OffsetsRetentionCheck: c.duration("offsets.retention.check.interval.ms"),
		MaxOffsetMetadata:     int(c.int("offset.metadata.max.bytes")),
	}
	if g.InitialRebalanceDelay <= 0 {
		g.InitialRebalanceDelay = group.NoInitialDelay
	}
	return g
}
