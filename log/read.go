package log

import (
	"context"
	"iter"

	"github.com/seglog/seglog/record"
)

// Read returns the record at offset; it is the caller's. ErrTrimmed and
// ErrBeyond say that the offset is outside [First, End), ErrNoRecord that it is
// inside and holds none. It reads up to End, so the record may not be durable.
func (l *Log) Read(offset int64) (record.Record, error) { return l.Isolated(UpToEnd).Read(offset) }

// ReadInto is Read into buf, which it grows where it is too small and returns: the
// record's bytes are in it, and valid until it is used again. Of a compressed
// batch, and of headers, they are in memory of their own.
func (l *Log) ReadInto(offset int64, buf []byte) (record.Record, []byte, error) {
	return l.Isolated(UpToEnd).ReadInto(offset, buf)
}

// From walks the records from offset on, in order, up to End as it is when it
// is reached. The records are the caller's to keep; one that is kept keeps the
// memory of its batch, or of the block of some KiB that small batches share.
// Offsets that hold no record are passed over; transaction markers are never
// records. Those of transactions are read whether or not they are committed: see
// Isolated.
//
// An error ends the walk, but for a *DamageError: who goes on gets the records
// behind the damage. ErrTrimmed comes too when records are dropped faster than
// they are read, ErrBeyond when offset is above End.
//
// The walk holds nothing of the log between two records.
func (l *Log) From(offset int64) iter.Seq2[record.Record, error] {
	return l.Isolated(UpToEnd).From(offset)
}

// Tail is From that waits for more at the end, until ctx ends (its error is the
// last thing yielded) or the log is closed (ErrClosed). Appends wake it; of a
// log opened ReadOnly, which another process appends to, the files are looked
// at again, every few milliseconds at first and every tenth of a second when
// nothing comes.
func (l *Log) Tail(ctx context.Context, offset int64) iter.Seq2[record.Record, error] {
	return l.Isolated(UpToEnd).Tail(ctx, offset)
}
