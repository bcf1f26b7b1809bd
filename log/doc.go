// Package log is an append-only log of records in Kafka's files: an ordered set
// of segments, of which the newest takes appends, in one directory.
//
//	l, err := log.Open(ctx, dir, log.Options{})
//	first, err := l.Append(record.Record{Value: []byte("hello")})
//	for rec, err := range l.From(first) { ... }
//
// # Offsets and watermarks
//
// Records are numbered by offset, from 0, without reuse. First is the log
// start offset, the first that can be read; the others are exclusive ends:
//
//	First <= Durable <= End,   HighWatermark <= End
//
// Append returns when the records are below End: they survive the process.
// AppendSync returns when they are below Durable: they survive the machine.
// Readers read up to End, so what they see is not yet durable.
//
// # Who owns the bytes
//
// What Read, From, Tail and OffsetAt return is the caller's forever. What
// Borrow returns is the engine's mapped memory until Release. Nothing else
// returns engine memory, and Append keeps nothing it is given.
//
// # Batches
//
// The records of one Append are one batch. A batch is atomic: after a crash all
// of it is there or nothing, and what is cut, DropFrom included, is cut at the
// start of a batch.
//
// # Concurrency
//
// All methods of Log may be called by any number of goroutines. Readers take no
// lock: they load the set of segments, which is immutable, and pin the memory
// of the one they read. Locks are taken in this order, and hooks are called
// with none held:
//
//	commit  who may sync, write the checkpoint and take segments out (sync.go)
//	mu      who may append and change the set of segments
//
// No goroutine is started: Maintain is a loop for one of the caller's own.
//
// # Errors
//
// An error matches exactly one sentinel by errors.Is: ErrTrimmed and ErrBeyond
// for offsets that are not there, ErrClosed, ErrLocked, ErrReadOnly, ErrFailed
// after a failed sync, record.ErrTooLarge and record.ErrInvalid for records
// refused, record.ErrCorrupt in a *DamageError for bytes that are not what was
// written; a full disk is the system's ENOSPC.
package log
