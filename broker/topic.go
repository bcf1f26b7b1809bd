package broker

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/log"
)

// TopicID is a topic's id, the same in partition.metadata and on the wire.
type TopicID = kafkadir.ID

// The topics that coordinators keep their state in, which clients may not write.
const (
	ConsumerOffsets  = "__consumer_offsets"
	TransactionState = "__transaction_state"
)

// Internal says whether a topic is one that coordinators keep their state in.
func Internal(name string) bool { return name == ConsumerOffsets || name == TransactionState }

// Topic is a topic as it is now. It stays good to ask after the topic is
// deleted; its partitions then answer UNKNOWN_TOPIC_OR_PARTITION.
type Topic struct {
	name       string
	id         TopicID
	partitions atomic.Pointer[[]*Partition]
	own        atomic.Pointer[map[string]string] // immutable
	config     atomic.Pointer[topicConfig]
	count      atomic.Int32
	gone       atomic.Bool
	traffic    traffic
}

func (t *Topic) Name() string { return t.name }

func (t *Topic) ID() TopicID { return t.id }

// Partitions are the topic's, in order. The slice must not be changed.
func (t *Topic) Partitions() []*Partition { return *t.partitions.Load() }

// Partition is the partition of that number, UNKNOWN_TOPIC_OR_PARTITION if there
// is none.
func (t *Topic) Partition(number int32) (*Partition, error) {
	all := t.Partitions()
	if number < 0 || int(number) >= len(all) || t.gone.Load() {
		return nil, failf(kerr.UnknownTopicOrPartition, "topic %s has no partition %d", t.name, number)
	}
	return all[number], nil
}

// Deleted says that the topic was deleted.
func (t *Topic) Deleted() bool { return t.gone.Load() }

// Compacted and Deletes say what becomes of old records (cleanup.policy).
func (t *Topic) Compacted() bool { return t.config.Load().compacts }

// Deletes says whether records go by age and size.
func (t *Topic) Deletes() bool { return t.config.Load().deletes }

// Partition is one partition of a topic, of which this broker is the leader.
type Partition struct {
	topic    *Topic
	number   int32
	log      *log.Log // nil if it could not be opened
	err      error    // why
	watchers watchers

	unflushed atomic.Int64 // records since the last sync, where flush.messages counts them
}

func (p *Partition) Topic() *Topic { return p.topic }

func (p *Partition) Number() int32 { return p.number }

// Log is the partition's log. There may be none since the topic was deleted
// (UNKNOWN_TOPIC_OR_PARTITION) or the log could not be opened
// (KAFKA_STORAGE_ERROR). What is appended to it directly wakes nobody who waits
// in Fetch: see Moved.
func (p *Partition) Log() (*log.Log, error) {
	switch {
	case p.topic.gone.Load():
		return nil, failf(kerr.UnknownTopicOrPartition, "topic %s was deleted", p.topic.name)
	case p.log == nil:
		return nil, failf(kerr.KafkaStorageError, "%s-%d: %v", p.topic.name, p.number, p.err)
	}
	return p.log, nil
}

// LeaderEpoch is the epoch in which this broker leads the partition, -1 if it
// does not.
func (p *Partition) LeaderEpoch() int32 {
	if p.log == nil {
		return -1
	}
	return p.log.LeaderEpoch()
}

// Moved tells those who wait in Fetch that a watermark of the log has moved, or
// that there will be no more.
func (p *Partition) Moved() { p.watchers.wake() }

// Count is the number of partitions, also of a topic that was only validated.
func (t *Topic) Count() int32 { return t.count.Load() }
