// Package recovery brings a log's directory back to a consistent state.
//
// Inspect looks and never writes. It answers with a Report: what segments there
// are, where the log starts and ends, what it would do about what it found, and
// what it would not touch. Apply does what the report says. Each action is one
// of a closed list (see Kind), has a reason, and may be interrupted anywhere
// and repeated; after it a second Inspect finds nothing to do.
//
// # What is believed
//
// The batches, by their checksums, and nothing else. Indexes are derived.
// The checkpoint (see Checkpoint) says which bytes need no look: those below
// the recovery point were synced before it was written. If it is missing or
// damaged the directory was not closed cleanly, that is all; it never is a
// reason to drop anything.
//
// # Torn and damaged
//
// What is not a whole valid batch is told apart by where it stands:
//
//	                              our checkpoint             none or another program's
//	zeros to the end of file      cut                        cut
//	newest segment, beyond the    torn: cut, kept aside      torn: cut, kept aside
//	  recovery point                                         (damage, if batches follow
//	                                                         or Kafka noted it as synced)
//	older segment, beyond the     torn: cut, and the later   damage
//	  recovery point              segments set aside where
//	                              offsets are missing
//	below the recovery point      damage, met when read      damage
//
// As long as the machine has been running since the checkpoint was written (it
// notes in which boot that was), what was appended is all there, synced or not,
// and the second and third lines are damage as well. Torn can then be but one
// batch, the last, which the process was just copying: its length, stored
// after all else, is zero.
//
// Nothing beyond a tear was durable: the log writes a checkpoint whenever a
// sync has passed the end of a segment, so the recovery point is never in an
// older segment than the durable end. A power cut may keep any part of what was
// not synced, so a later segment can be whole where an earlier one is torn, and
// a gap between segments is a tear as well.
//
// The base offset and the leader epoch of a batch are outside its checksum. A
// base offset is held against its neighbours: it does not go back, does not
// reach into the batch or the segment behind it, nor past the end (see
// segment.CheckOrder). What passes
// all the same (a bit flipped within a gap that compaction left, or in the very
// last batch of a log without a checkpoint), and any epoch, only the seal shows:
// see Verify.
//
// Where files are missing or shorter than the checkpoint has them, and a broker's
// cleaner-offset-checkpoint in the directory above says more than was known when
// the checkpoint was written, the broker has compacted the log since: then the
// checkpoint is not believed, and the log is another program's.
//
// # Half-done work
//
// A replacement of segments (.cleaned, .swap) is undone until all of the new
// files are complete and finished from then on, as Kafka does. A DropFrom is
// noted in the checkpoint before anything is cut and brought to its end by
// whoever opens the log next, so that the log ends where it did or where it was
// to. A DropBefore is noted as the new log start, and segments that the
// checkpoint does not know below it are unlinked.
//
// # Syncs
//
// What Apply has done is durable, and so are the names that it went by, unless the
// Report says Owed: then the log's first change makes the names durable, and its first
// sync the rest.
//
// # What is kept
//
// Torn bytes that are not all zero are kept in seglog.torn-<offset>, or with .2 and so
// on behind where there is one, as far as there is room and no more than the last few. Damage is an error that names
// the place, unless the caller chose repair: then the bad bytes alone are cut
// out and kept in seglog.damaged-<offset>. The offsets that were in them are not
// given out again: after damage at the end the log goes on in a new segment.
//
// Who only reads opens a damaged log as it is: the segments of the report cover
// the damage, and reading meets it, with an error, and goes on behind it.
package recovery
