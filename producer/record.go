package producer

import (
	"time"

	"github.com/seglog/seglog/record"
)

// Record is what Send takes. Its bytes are copied before Send returns.
type Record struct {
	Topic     string
	Partition Partition // zero: the partitioner chooses
	Key       []byte    // nil: none
	Value     []byte    // nil: a tombstone
	Headers   []record.Header
	Time      time.Time // zero: the present
}

// Partition is a partition's number or, as the zero value, none.
type Partition struct{ plusOne int32 }

// At is partition n of a topic.
func At(n int32) Partition { return Partition{n + 1} }

// Number is the partition's number; ok is false for the zero Partition.
func (p Partition) Number() (n int32, ok bool) { return p.plusOne - 1, p.plusOne != 0 }

// Delivery says where a record went.
type Delivery struct {
	Topic     string
	Partition int32
	// Offset is the record's place in the partition if Stored says so. It is
	// not known with AcksNone, nor where the sink answered that it had the
	// batch already.
	Offset int64
	Stored bool
	// Time is the record's own, or that of the log under LogAppendTime.
	Time time.Time
}
