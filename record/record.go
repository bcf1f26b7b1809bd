package record

import (
	"fmt"
	"math"
	"time"
)

// Record is one entry of a log: a key, a value, headers and a time.
//
// A Record read by a [Decoder] borrows the batch's bytes or the Decoder's
// buffers; one given to a [Builder] is copied. In both directions a nil Key
// or Value is null and an empty one is empty: the format keeps them apart,
// and a null value is what compaction takes for a deletion.
type Record struct {
	// Offset is the record's number in the log. Set on read; a Builder
	// numbers the records itself and does not look at it.
	Offset int64

	// Time has millisecond precision in the format; anything finer is cut
	// off. The zero Time is "no timestamp". Set in UTC on read.
	Time time.Time

	// TimestampType says who set Time. Set on read, not looked at by a
	// Builder, which has it in [BatchOptions] for the whole batch.
	TimestampType TimestampType

	Key, Value []byte
	Headers    []Header
}

// Header is a named value beside a record. Keys may repeat and their order
// is kept. Kafka takes the key for UTF-8; here it is the bytes it is.
type Header struct {
	Key   string
	Value []byte // nil is null, empty is empty
}

// MaxHeaders is the largest number of headers of one record, for writer and
// reader alike. Kafka sets no such limit. Without one, two bytes of payload
// claim a Header of 40, and a small compressed batch claims gigabytes.
const MaxHeaders = 1 << 20

// TimestampType says whose clock gave a record its time
// (message.timestamp.type, KIP-32).
type TimestampType int8

const (
	CreateTime    TimestampType = 0 // the producer's, one for each record
	LogAppendTime TimestampType = 1 // the log's, one for the whole batch
)

// String gives the name that Kafka's configuration uses.
func (t TimestampType) String() string {
	switch t {
	case CreateTime:
		return "CreateTime"
	case LogAppendTime:
		return "LogAppendTime"
	}
	return fmt.Sprintf("TimestampType(%d)", int8(t))
}

// noTimestamp is how "no timestamp" is written.
const noTimestamp = -1

// toMillis gives the milliseconds since 1970 that t is written as. It is
// false for times that the format has no place for: those before 1970, which
// Kafka's producer refuses as well, and those past the range of an int64.
func toMillis(t time.Time) (ms int64, ok bool) {
	if sec := t.Unix(); sec >= 0 && sec < math.MaxInt64/1000 {
		return sec*1000 + int64(uint32(t.Nanosecond())/1e6), true
	}
	return noTimestamp, t.IsZero()
}

// timeError takes the seconds and not the time: what a Record points to must
// not have to be on the heap for the sake of an error's text.
func timeError(name string, sec int64) error {
	return invalidf("%s of %d seconds since 1970, want 0 to %d", name, sec, int64(math.MaxInt64/1000-1))
}

// fromMillis is the inverse of toMillis. Any ms is taken: a negative one
// other than -1 is a time before 1970.
func fromMillis(ms int64) time.Time {
	if ms == noTimestamp {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
