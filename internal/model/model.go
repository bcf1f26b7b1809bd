// Package model is a log in about a hundred lines, as simple as can be: what
// the real one is held against. It keeps everything in one slice, knows nothing
// of segments and has no failures but the ones that the contract names.
package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/seglog/seglog/record"
)

// Batch is the records of one append; it is there whole or not at all. Offsets
// of [First, Next) without a record are gaps.
type Batch struct {
	First, Next int64
	Records     []record.Record
}

// Log is the reference. Batches are in order and do not overlap. The oldest may
// begin below First.
type Log struct {
	First, End int64
	Durable    int64 // every Crash keeps what is below
	Batches    []Batch
}

// Append adds a batch of n offsets at first, which is at or above End.
func (l *Log) Append(first, n int64, records []record.Record) {
	l.Batches = append(l.Batches, Batch{First: first, Next: first + n, Records: records})
	l.End = first + n
}

// Sync makes everything durable.
func (l *Log) Sync() { l.Durable = l.End }

// DropBefore makes offset, up to End, the first.
func (l *Log) DropBefore(offset int64) {
	l.First = max(l.First, offset)
	l.Durable = max(l.Durable, l.First)
	l.Batches = slices.DeleteFunc(l.Batches, func(b Batch) bool { return b.Next <= l.First })
}

// DropAll empties the log and lets it start at offset.
func (l *Log) DropAll(offset int64) { *l = Log{First: offset, End: offset, Durable: offset} }

// Retain drops whole segments below floor; bases are those of the segments,
// ascending, the last of them being the active one's.
func (l *Log) Retain(bases []int64, floor int64) {
	for _, b := range bases {
		if b <= floor {
			l.DropBefore(min(b, l.End))
		}
	}
}

// DropFrom drops the batch that holds offset and all behind it. End is then
// where the batch before it ends: where that batch began, unless there is a
// gap. It is never below First.
func (l *Log) DropFrom(offset int64) {
	if offset >= l.End {
		return
	}
	keep := 0
	for keep < len(l.Batches) && l.Batches[keep].Next <= offset {
		keep++
	}
	l.Batches = l.Batches[:keep:keep]
	l.End = l.First
	if keep > 0 {
		l.End = max(l.First, l.Batches[keep-1].Next)
	}
	l.Durable = min(l.Durable, l.End)
}

// Crash is told where the log ends after a crash, and says why it may not: what
// may be left is everything below Durable and a prefix of the batches behind.
func (l *Log) Crash(end int64) error {
	if end < l.Durable || end > l.End {
		return fmt.Errorf("the log ends at %d after a crash, want %d (durable) to %d", end, l.Durable, l.End)
	}
	keep := 0
	for keep < len(l.Batches) && l.Batches[keep].Next <= end {
		keep++
	}
	if keep < len(l.Batches) && l.Batches[keep].First < end && end > l.First {
		return fmt.Errorf("the log ends at %d after a crash, inside the batch [%d, %d)", end, l.Batches[keep].First, l.Batches[keep].Next)
	}
	l.Batches = l.Batches[:keep:keep]
	l.End = end
	return nil
}

// Records are those at or above offset.
func (l *Log) Records(offset int64) []record.Record {
	var list []record.Record
	for _, b := range l.Batches {
		for _, r := range b.Records {
			if r.Offset >= max(offset, l.First) {
				list = append(list, r)
			}
		}
	}
	return list
}

// OffsetAt is the first offset whose record is not earlier than t, End if none.
func (l *Log) OffsetAt(t time.Time) int64 {
	for _, r := range l.Records(l.First) {
		if !r.Time.IsZero() && r.Time.UnixMilli() >= t.UnixMilli() {
			return r.Offset
		}
	}
	return l.End
}

// Clone is a log of its own.
func (l *Log) Clone() *Log {
	c := *l
	c.Batches = slices.Clone(l.Batches)
	return &c
}
