package group

import (
	"slices"
	"time"

	"github.com/seglog/seglog/group/assign"
	"github.com/seglog/seglog/internal/coordinator"
	"github.com/seglog/seglog/internal/javahash"
)

// TopicPartition names a partition.
type TopicPartition = assign.TopicPartition

// Offset is a committed one.
type Offset struct {
	Offset      int64
	LeaderEpoch int32 // -1 for none
	Metadata    string
	Committed   time.Time // to the millisecond
	TopicID     [16]byte  // zero if it was not known
	expires     time.Time // zero: by the group's retention

	position int64 // of its record in __consumer_offsets: the later one counts
}

// offsets are those of a group.
type offsets struct {
	committed map[TopicPartition]Offset
	pending   map[int64]map[TopicPartition]Offset // of open transactions, by producer id
	inFlight  map[TopicPartition]int              // commits on their way to the log
}

func newOffsets() offsets {
	return offsets{make(map[TopicPartition]Offset), make(map[int64]map[TopicPartition]Offset), make(map[TopicPartition]int)}
}

// put takes an offset unless there is one from further on in the log.
func (o *offsets) put(tp TopicPartition, v Offset) {
	if old, ok := o.committed[tp]; !ok || old.position <= v.position {
		o.committed[tp] = v
	}
}

// hold takes an offset of an open transaction.
func (o *offsets) hold(producer int64, tp TopicPartition, v Offset) {
	if o.pending[producer] == nil {
		o.pending[producer] = make(map[TopicPartition]Offset)
	}
	o.pending[producer][tp] = v
}

// unstable says that an open transaction has an offset of the partition.
func (o *offsets) unstable(tp TopicPartition) bool {
	for _, of := range o.pending {
		if _, ok := of[tp]; ok {
			return true
		}
	}
	return false
}

// drop forgets the offset of a partition whose tombstone is at a position, and
// those of transactions that are before it.
func (o *offsets) drop(tp TopicPartition, position int64) {
	if old, ok := o.committed[tp]; ok && old.position <= position {
		delete(o.committed, tp)
	}
	for producer, of := range o.pending {
		if old, ok := of[tp]; ok && old.position <= position {
			if delete(of, tp); len(of) == 0 {
				delete(o.pending, producer)
			}
		}
	}
}

// known are all partitions of which there is an offset, or will be.
func (o *offsets) known() []TopicPartition {
	set := make(map[TopicPartition]bool)
	for tp := range o.committed {
		set[tp] = true
	}
	for tp := range o.inFlight {
		set[tp] = true
	}
	for _, of := range o.pending {
		for tp := range of {
			set[tp] = true
		}
	}
	return inOrder(set)
}

func inOrder[V any](set map[TopicPartition]V) []TopicPartition {
	list := make([]TopicPartition, 0, len(set))
	for tp := range set {
		list = append(list, tp)
	}
	slices.SortFunc(list, func(a, b TopicPartition) int {
		if n := javahash.Compare(a.Topic, b.Topic); n != 0 {
			return n
		}
		return int(a.Partition - b.Partition)
	})
	return list
}

func (g *group) offsetKey(tp TopicPartition) []byte {
	return coordinator.OffsetKey{Group: g.id, Topic: tp.Topic, Partition: tp.Partition}.Append(nil)
}

func (g *group) offsetRecord(tp TopicPartition, o Offset) Record {
	v := coordinator.OffsetValue{Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, TopicID: o.TopicID,
		CommitTimestamp: o.Committed.UnixMilli(), ExpireTimestamp: -1}
	if !o.expires.IsZero() {
		v.ExpireTimestamp = o.expires.UnixMilli()
	}
	return Record{g.offsetKey(tp), v.Append(nil)}
}

// writeGroup writes the group with assignments, or with those that members have.
func (c *Coordinator) writeGroup(now time.Time, g *group, assignments map[string][]byte, done func(Code)) {
	v := coordinator.GroupValue{ProtocolType: g.protocolType, Generation: g.generation, CurrentStateTimestamp: millis(g.since)}
	if len(g.members) > 0 {
		protocol, leader := g.protocol, g.leader
		v.Protocol, v.Leader = &protocol, &leader
	}
	for _, m := range g.members {
		a := m.assignment
		if assignments != nil || g.state == CompletingRebalance {
			a = assignments[m.id]
		}
		v.Members = append(v.Members, coordinator.MemberValue{MemberID: m.id, GroupInstanceID: m.instance, ClientID: m.clientID, ClientHost: m.clientHost,
			RebalanceTimeout: int32(m.rebalance.Milliseconds()), SessionTimeout: int32(m.session.Milliseconds()),
			Subscription: m.metadata(g.protocol), Assignment: a})
	}
	c.append(now, []Record{{coordinator.AppendGroupKey(nil, g.id), v.Append(nil)}}, func(_ int64, code Code) { done(ofLog(code)) })
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return -1
	}
	return t.UnixMilli()
}
