package consumer

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/seglog/seglog/group/assign"
	"github.com/seglog/seglog/log"
)

// TopicPartition names a partition.
type TopicPartition = assign.TopicPartition

// Options are a consumer's settings. The zero value is Kafka 4's defaults; the
// names in parentheses are Kafka's.
type Options struct {
	// Reset is where to begin without a committed offset, or where the one there is
	// is of no record (auto.offset.reset). The zero value is Latest.
	Reset Reset
	// Isolation is how far is read (isolation.level): log.ReadUncommitted unless it
	// is log.ReadCommitted.
	Isolation log.Isolation
	// AutoCommit is how often Poll commits what was returned before
	// (auto.commit.interval.ms). 0 is 5 s; NoAutoCommit leaves it to CommitSync and
	// CommitAsync (enable.auto.commit).
	AutoCommit time.Duration
	// MaxPollRecords is how many records Poll returns at most (max.poll.records).
	// 0 is 500.
	MaxPollRecords int
	// MaxPollInterval is how long there may be between two Polls, and how long a
	// rebalance waits for this member (max.poll.interval.ms). 0 is 5 min.
	MaxPollInterval time.Duration
	// SessionTimeout is after how long without a heartbeat the group goes on
	// without this member (session.timeout.ms). 0 is 45 s.
	SessionTimeout time.Duration
	// HeartbeatInterval is how often one is sent (heartbeat.interval.ms), and so
	// after what time a member learns of a rebalance. 0 is 3 s.
	HeartbeatInterval time.Duration
	// MaxPartitionBytes and MaxBytes bound what is read at once of a partition and
	// in all, and so the memory that records take before they are returned; but a
	// first batch is read whatever its size (max.partition.fetch.bytes,
	// fetch.max.bytes). 0 is 1 MiB and 50 MiB.
	MaxPartitionBytes, MaxBytes int64
	// Assignors are the strategies that this member knows, the best first
	// (partition.assignment.strategy); nil is range, then cooperative-sticky. If
	// all are cooperative, partitions that stay with this member are read on
	// during a rebalance (KIP-429); else all are revoked before it.
	Assignors []assign.Assignor
	// ClientID is what the member's id begins with (client.id). "" is "consumer".
	ClientID string
	// InstanceID makes the member a static one (group.instance.id, KIP-345): Close
	// does not leave the group, and the next consumer of this id gets the same
	// partitions without a rebalance if it comes within SessionTimeout.
	InstanceID string
	// Listener is told what partitions come and go.
	Listener Listener
	// Logger is told what went wrong and was dealt with; nil discards.
	Logger *slog.Logger
}

// NoAutoCommit as Options.AutoCommit commits nothing by itself.
const NoAutoCommit time.Duration = -1

// Reset is where to begin without a position.
type Reset int

const (
	Latest   Reset = iota // at the end: what is appended from then on
	Earliest              // at the first record there is
	None                  // nowhere: Poll returns ErrNoOffset or OFFSET_OUT_OF_RANGE until Seek
)

// Listener is told by Poll, Close and Unsubscribe what partitions come and go by
// rebalances of the group. Its funcs may be nil. They get the context of the call
// that they are called by, and must neither call Poll nor Close; they may commit
// and seek. The slices are theirs. Partitions assigned by hand are not told of.
type Listener struct {
	// Revoked is told of partitions that are about to be another's. Until it
	// returns they are still this consumer's: it is the place to finish what they
	// are about, and to commit.
	Revoked func(ctx context.Context, partitions []TopicPartition)
	// Assigned is told of those that were added, after each rebalance; there may be
	// none. Nothing of them has been read yet: it is the place to Seek.
	Assigned func(ctx context.Context, partitions []TopicPartition)
	// Lost is told of partitions that may be another's already, as the group went
	// on without this member. What is committed now is refused. If it is nil
	// Revoked is called instead.
	Lost func(ctx context.Context, partitions []TopicPartition)
}

// backoff is after what time something that did not work is tried again
// (retry.backoff.ms).
const backoff = 100 * time.Millisecond

func (o Options) withDefaults() (Options, error) {
	def(&o.AutoCommit, 5*time.Second)
	def(&o.MaxPollRecords, 500)
	def(&o.MaxPollInterval, 5*time.Minute)
	def(&o.SessionTimeout, 45*time.Second)
	def(&o.HeartbeatInterval, min(3*time.Second, max(o.SessionTimeout/3, time.Millisecond)))
	def(&o.MaxPartitionBytes, 1<<20)
	def(&o.MaxBytes, 50<<20)
	def(&o.ClientID, "consumer")
	def(&o.Logger, slog.New(slog.DiscardHandler))
	if o.Assignors == nil {
		o.Assignors = []assign.Assignor{assign.Range{}, assign.CooperativeSticky{}}
	}
	if o.Isolation != log.ReadCommitted {
		o.Isolation = log.ReadUncommitted
	}
	switch {
	case o.Reset < Latest || o.Reset > None:
		return o, fmt.Errorf("consumer: Reset is %d, want Latest, Earliest or None", o.Reset)
	case o.AutoCommit < 0 && o.AutoCommit != NoAutoCommit:
		return o, fmt.Errorf("consumer: AutoCommit is %v, want an interval or NoAutoCommit", o.AutoCommit)
	case o.MaxPollRecords < 0 || o.MaxPartitionBytes < 0 || o.MaxBytes < 0:
		return o, fmt.Errorf("consumer: a negative MaxPollRecords, MaxPartitionBytes or MaxBytes")
	case o.MaxPollInterval < 0 || o.SessionTimeout < 0 || o.HeartbeatInterval < 0:
		return o, fmt.Errorf("consumer: a negative MaxPollInterval, SessionTimeout or HeartbeatInterval")
	case o.HeartbeatInterval >= o.SessionTimeout:
		return o, fmt.Errorf("consumer: HeartbeatInterval is %v, want less than SessionTimeout, %v", o.HeartbeatInterval, o.SessionTimeout)
	case len(o.Assignors) == 0:
		return o, fmt.Errorf("consumer: Assignors is empty, want nil or at least one")
	}
	return o, nil
}

// cooperative says that partitions are kept during a rebalance: whichever of the
// assignors the group chooses, it allows that.
func (o *Options) cooperative() bool {
	for _, a := range o.Assignors {
		if !a.Cooperative() {
			return false
		}
	}
	return true
}

// def sets a field that was left zero.
func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
