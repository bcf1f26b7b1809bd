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
// All methods of Log may be called by any number of goroutines, and each takes
// place at one moment between its call and its return (it is linearizable):
// whatever was seen to have happened has happened for everybody. That holds for
// appends, reads, Borrow, OffsetAt, both Drops, Retain and each watermark. It
// does not hold for what is more than one thing:
//
//   - Several watermarks read one after the other, Stats included, are of
//     several moments.
//   - A walk, From or Tail, is a read for each batch it comes to. Each batch was
//     in the log at some moment after the one before it was yielded.
//   - DropBefore and Retain look at the high watermark a moment before they raise
//     First: one that is lowered in between may end up below it.
//   - Of AppendSync the append and the sync are at two moments.
//   - Compact takes superseded records out one segment after the other.
//   - Close refuses a Compact a moment before other changes, and these a moment
//     before reads.
//   - A log opened ReadOnly follows another process: its watermarks are each as
//     they were there, at moments of their own.
//
// Readers take no lock: they load the set of segments, which is immutable, and
// pin the memory of the one they read. Locks are taken in this order, and hooks are called
// with none held:
//
//	commit      who may sync, write the checkpoint and take segments out (sync.go)
//	graves      who removes files of segments, or makes ones of the same names (bury.go)
//	exchanging  held while compaction exchanges files, for readers to wait for
//	mu          who may append and change the set of segments
//
// No goroutine is started but by Maintain, a loop for one of the caller's own:
// retention and compaction are done in others, which end before it returns.
//
// # Errors
//
// An error matches at most one sentinel by errors.Is: ErrTrimmed and ErrBeyond
// for offsets that are not there, ErrClosed, ErrLocked, ErrReadOnly, ErrFailed,
// ErrNotCompacted for a log that is not one to be compacted,
// ErrTimestamp, record.ErrTooLarge and record.ErrInvalid for records refused,
// record.ErrCorrupt in a *DamageError for bytes that are not what was written.
// One of the system matches none but itself: ENOSPC or EDQUOT where there is no
// room, EMFILE without descriptors, EIO.
//
// What to do after one of the system:
//
//   - ErrFailed, which wraps it: open the log again. A sync failed, so that what
//     was appended since the last one may be lost to a power cut though it can be
//     read; or memory could not be touched; or DropFrom, DropAll or Compact was
//     stopped while it cut or exchanged files, which opening brings to its end.
//     Nothing is appended, dropped or synced until then; reads go on, but for those
//     of the files that Compact was exchanging. Where the kernel has dropped what
//     it could not write, opening finds damage behind what was durable: Repair
//     cuts it out.
//   - Open and Close: open again. Nothing is locked or open after either.
//   - Any other call: make it again, on the same Log, once the cause is gone. It
//     has changed nothing, or all that it was to change and only not yet made it
//     durable, which the second call does; Retain and Compact leave done what
//     they had done. After AppendSync its offset tells: -1 is not appended, and of
//     what is in the log Sync is to be called again.
//
// Errors that leave nothing undone are told to Options.Logger alone: of files of
// no use that could not be removed, which a later drop, checkpoint or Open does,
// and of files that are derived, and are derived again. Package fuzz/calls has the
// list, and holds all of this against every call that can fail.
package log
