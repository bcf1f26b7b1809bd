package concurrent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// ctx is never done.
var ctx = context.Background()

// subject is what is held against the specification: a log, or one that was
// broken on purpose.
type subject interface {
	Append(...record.Record) (int64, error)
	AppendSync(context.Context, ...record.Record) (int64, error)
	AppendBatch([]byte, log.Source) (log.Appended, error)
	EndTransaction(log.EndTxn) (log.Appended, error)
	Sync(context.Context) error
	Checkpoint(context.Context) error
	SetHighWatermark(int64) error
	SetLeaderEpoch(int32) error
	DropBefore(int64) error
	DropFrom(int64) error
	Retain(context.Context) ([]log.SegmentInfo, error)
	Compact(context.Context) (compact.Result, error)
	Close() error

	First() int64
	End() int64
	HighWatermark() int64
	Durable() int64
	LastStable() int64
	LeaderEpoch() int32
	OffsetAt(time.Time) (int64, error)

	ReadAt(log.Isolation, int64) (record.Record, error)
	Walk(log.Isolation, int64) iter.Seq2[record.Record, error]
	BorrowAt(level log.Isolation, offset, maxBytes int64) (*log.View, error)
}

// real is a log as a subject.
type real struct{ *log.Log }

func (r real) ReadAt(level log.Isolation, offset int64) (record.Record, error) {
	return r.Isolated(level).Read(offset)
}

func (r real) Walk(level log.Isolation, offset int64) iter.Seq2[record.Record, error] {
	return r.Isolated(level).From(offset)
}

func (r real) BorrowAt(level log.Isolation, offset, maxBytes int64) (*log.View, error) {
	return r.Isolated(level).Borrow(offset, maxBytes)
}

// errName is an error as the specification has it: what it matches, or its text.
func errName(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{nil, ""}, {io.EOF, "eof"}, {log.ErrTrimmed, "trimmed"}, {log.ErrBeyond, "beyond"}, {log.ErrNoRecord, "no record"},
		{log.ErrClosed, "closed"}, {log.ErrOutOfOrderSequence, "out of order"},
	} {
		if err == known.err || known.err != nil && errors.Is(err, known.err) {
			return known.name
		}
	}
	return "error: " + err.Error()
}

// A record is told by the id of its batch and its place in it; everything else
// follows from these.

var epochStart = time.UnixMilli(1_700_000_000_000)

func keyOf(id, index int) string { return fmt.Sprint("k", (id+index)%5) }

// timeOf is not in order: a later record can be earlier.
func timeOf(id, index int) time.Time {
	return epochStart.Add(time.Duration((id*37+index*11)%200+id) * time.Second)
}

func recordOf(id, index int) record.Record {
	value := fmt.Sprintf("%d/%d/%s", id, index, strings.Repeat("v", (id*53+index*17)%140))
	return record.Record{Key: []byte(keyOf(id, index)), Value: []byte(value), Time: timeOf(id, index)}
}

func recordsOf(id, n int) []record.Record {
	list := make([]record.Record, n)
	for i := range list {
		list[i] = recordOf(id, i)
	}
	return list
}

// recognise tells which record it is, 0/0 for none that was ever made.
func recognise(r record.Record) (id, index int) {
	if n, err := fmt.Sscanf(string(r.Value), "%d/%d/", &id, &index); n != 2 || err != nil {
		return 0, 0
	}
	want := recordOf(id, index)
	if string(r.Key) != string(want.Key) || string(r.Value) != string(want.Value) || !r.Time.Equal(want.Time) {
		return 0, 0
	}
	return id, index
}

// encoded is a producer's batch.
func encoded(id, n int, pid int64, seq int32, txn bool) []byte {
	var b record.Builder
	b.Reset(record.BatchOptions{Transactional: txn, Producer: &record.Producer{ID: pid, Sequence: seq}})
	for _, r := range recordsOf(id, n) {
		if err := b.Add(&r); err != nil {
			panic(err) // a mistake of this test
		}
	}
	raw, err := b.Build()
	if err != nil {
		panic(err)
	}
	return raw
}
