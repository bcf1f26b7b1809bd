// Package index holds the two sparse indexes of a segment, Kafka's .index and
// .timeindex, as tables of fixed-size entries over memory that somebody else
// maps, grows and cuts.
//
// # The offset index
//
// Big-endian entries of 8 bytes, no header, no checksum, sorted by both
// fields, offsets strictly increasing:
//
//	int32  relative offset: last offset of a batch minus the segment's base
//	int32  position of that batch's first byte in the .log file
//
// A lookup takes the floor of the wanted offset and scans forward from its
// position. Followers of Kafka before 4.0 wrote one entry for a whole set of
// batches: the offset is then the last one of a later batch than the one at
// the position. A floor lookup reads both styles alike.
//
// # The time index
//
// Big-endian entries of 12 bytes, timestamps strictly increasing, offsets
// non-decreasing:
//
//	int64  timestamp, ms: the largest up to and including that offset's batch
//	int32  relative offset of the (earliest) batch that has it
//
// Every record before that batch is older than the timestamp, so a search for
// a time starts at the batch of the floor entry. Kafka before 3.8 wrote the
// offset of the record itself; readers here accept any offset in the batch.
//
// # When entries are written
//
// Kafka's rule since 4.0 (KAFKA-806), stated over positions so that reopening
// a segment does not change what it writes; see Writer.
//
// # Trust
//
// Both files are derived. Whoever opens one asks Check; whoever follows an
// entry verifies the batch it leads to. What fails either is rebuilt from the
// log, never repaired.
//
// Version rule: the formats have no version; they are Kafka's since 0.8
// (offset) and 0.10.1 (time) and change only if Kafka's do.
package index
