package producer

import (
	"context"
	"time"
)

// Sink is where batches go: logs, a broker in the same process, a cluster. Its
// methods may be called concurrently.
type Sink interface {
	// Topic tells a topic's partitions, number 0 first and none missing. A
	// retriable error, an empty answer included, is asked again.
	Topic(ctx context.Context, name string) ([]PartitionInfo, error)

	// ProducerID gives out a producer id that nobody else has, and its epoch
	// (Kafka's InitProducerId).
	ProducerID(ctx context.Context) (id int64, epoch int16, err error)

	// Produce has a node store a request's batches and returns without
	// waiting. Requests to one node are carried out in the order of the
	// calls. done is called once, by any goroutine, Produce itself included;
	// until then the request and its bytes are the sink's, which may write to
	// them. It gets a result for each batch, or one error for all.
	//
	// When ctx ends, done is called soon after.
	Produce(ctx context.Context, node Node, r *Request, done func([]Result, error))
}

// Node is what leads partitions: a broker's id.
type Node int32

// PartitionInfo is one partition of a topic.
type PartitionInfo struct {
	Leader Node
	// Leaderless partitions are not chosen freely, and what is for them waits.
	Leaderless bool
}

// Request is batches for one node, at most one for each partition.
type Request struct {
	Acks    Acks
	Timeout time.Duration // what the node may take to wait for replicas
	Batches []Batch
}

// Batch is an encoded record batch for one partition.
type Batch struct {
	Topic     string
	Partition int32
	Raw       []byte
}

// Result is what became of one batch.
type Result struct {
	// Offset is where its first record is, if Stored.
	Offset int64
	Stored bool // the sink knows the offset
	// AppendTime is when the log took it, under LogAppendTime; else zero.
	AppendTime time.Time
	// LogStart is the partition's log start offset, 0 where not known.
	LogStart int64
	Err      error
}

// Acks is what has to have a batch before it counts as stored (acks).
type Acks int

const (
	AcksAll    Acks = iota // every replica in sync; one log: durable
	AcksLeader             // the leader
	AcksNone               // nobody: it was handed to the sink
)
