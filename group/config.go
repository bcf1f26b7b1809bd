package group

import (
	"time"
)

// NoInitialDelay as Config.InitialRebalanceDelay lets a new group's first
// member be alone in the first generation.
const NoInitialDelay time.Duration = -1

// Config is what a coordinator is told. Its zero value, with Append and
// NewMemberID set, has Kafka's defaults.
type Config struct {
	// Append writes a batch to the end of the coordinator's partition of
	// __consumer_offsets and calls done when it is there for good, with the offset
	// of its first record and None, or with one of the codes of a log when it is not
	// there and will not come. done is called once for each batch, in the order in
	// which they were given, under the same lock as the coordinator's methods; it may
	// be called before Append returns. Append must not call the coordinator itself.
	Append func(b Batch, done func(first int64, code Code))

	// NewMemberID makes a member id of a prefix: Kafka's is the prefix, a dash and
	// a random UUID. Ids must not come twice.
	NewMemberID func(prefix string) string

	MinSessionTimeout     time.Duration // group.min.session.timeout.ms; 0 for 6 s
	MaxSessionTimeout     time.Duration // group.max.session.timeout.ms; 0 for 30 min
	InitialRebalanceDelay time.Duration // group.initial.rebalance.delay.ms; 0 for 3 s
	NewMemberTimeout      time.Duration // how long a member's first join may wait; 0 for 5 min
	MaxSize               int           // group.max.size, in members; 0 for no limit

	OffsetsRetention      time.Duration // offsets.retention.minutes; 0 for 7 days
	OffsetsRetentionCheck time.Duration // offsets.retention.check.interval.ms; 0 for 10 min
	MaxOffsetMetadata     int           // offset.metadata.max.bytes; 0 for 4096
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	def(&c.MinSessionTimeout, 6*time.Second)
	def(&c.MaxSessionTimeout, 30*time.Minute)
	def(&c.InitialRebalanceDelay, 3*time.Second)
	c.InitialRebalanceDelay = max(c.InitialRebalanceDelay, 0)
	def(&c.NewMemberTimeout, 5*time.Minute)
	def(&c.OffsetsRetention, 7*24*time.Hour)
	def(&c.OffsetsRetentionCheck, 10*time.Minute)
	if c.MaxOffsetMetadata == 0 {
		c.MaxOffsetMetadata = 4096
	}
	return c
}

// Record is one of __consumer_offsets. A nil Value is a tombstone.
type Record struct{ Key, Value []byte }

// NoProducer is the producer of a batch of the coordinator's own.
const NoProducer = -1

// Batch is written as one, with the time as its records' timestamp. With a
// producer it is a transactional batch without a sequence: the offsets count
// when that producer's commit marker comes.
type Batch struct {
	Records       []Record
	Time          time.Time
	ProducerID    int64 // NoProducer for none
	ProducerEpoch int16
}
