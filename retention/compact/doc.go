// Package compact rewrites the sealed segments of a log so that of each key
// the newest record is left, offsets unchanged: Kafka's log cleaner
// (cleanup.policy=compact).
//
// # What goes and what stays
//
//   - The active segment is never touched, nor what lies at or above the last
//     stable offset, nor what is younger than MinLag. See Plan.
//   - A record goes if a later one of the same key lies below the plan's end. A
//     record without a key goes.
//   - A null value, a tombstone, says that its key is deleted. The first
//     cleaning that meets it writes into its batch when it may go (the delete
//     horizon, KIP-534), and a later one, at or past that time, drops it. So a
//     reader that starts from the beginning and takes less than DeleteRetention
//     to come to the end sees every deletion.
//   - Records of an aborted transaction go at once; a transaction's marker once
//     none of its data is seen, after a horizon of its own.
//   - A batch that loses all its records goes, unless a producer's newest
//     sequence number or epoch is in it, or the high watermark is its end: then
//     it stays, empty.
//   - A batch that loses nothing is copied byte for byte.
//
// # Two passes
//
// The first maps each key of the dirty part, [FirstDirty, End), to its newest
// record, until the map is full or the part is done. The second copies every
// segment below the end of what is mapped, clean ones included, and leaves out
// what the map says is superseded. Small segments in a row become one.
//
// If the map was full, another round goes on from there. If that would take many
// rounds, the keys of all records are written to a file instead, in partitions
// by their hash, and the map finds in one partition after the other which records
// are superseded; the second pass then goes by a bit for each record. What is left
// is the same, and the cost grows with the records, not with their square.
//
// Memory is the map, whose size is a setting, and about ten MiB of buffers.
//
// Reading batches, which may mean decompressing them, looking keys up and
// compressing what is left is done by up to four goroutines that a round starts
// and ends; what comes of it is taken in order by the caller's own, which alone
// fills the map and writes.
//
// # A hash is not a key
//
// The map holds hashes, and the place of the record that each stands for. Before
// a record is dropped for the sake of another, their keys are compared byte for
// byte. Two keys with one hash are both kept, and the first dirty offset stays at
// or below them, so that the next cleaning, with another seed, tells them apart.
// In a partition they are told apart at once.
//
// This is what makes dropping a tombstone safe: everything below the first dirty
// offset was once compared with all that followed, so no older record of the
// tombstone's key is left there.
//
// # Crash safety
//
// Output is written as N.log.cleaned and its like, synced, then renamed to .swap
// in an order that recovery understands, and then over the old files (FORMAT 25;
// LogLoader in Kafka). See Replacement. Until the last .cleaned has become a
// .swap the old files count, and from then on the new.
package compact
