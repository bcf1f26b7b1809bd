// Package producers is what a partition knows of its idempotent and
// transactional producers: Kafka's ProducerStateManager as a state machine,
// and the file that keeps it, N.snapshot.
//
// # Rules
//
// Of each producer id the table keeps its epoch, the last five batches, and
// whether a transaction is open. A client's batch is checked before it is
// appended (KIP-98, KIP-360):
//
//   - the same epoch and sequences as one of the five: a duplicate, answered
//     with where the first one went;
//   - an epoch below the known one: fenced;
//   - a sequence that does not follow: refused. After 2^31-1 comes 0, a new
//     epoch begins at 0, and an unknown producer at anything;
//   - not transactional while a transaction is open: refused.
//
// Batches from a leader were checked there and are only taken in. A marker
// (control batch) ends a transaction; with transaction.version 2 its epoch is
// one above the data's (KIP-890), so it is matched by producer id.
//
// # Transactions
//
// The first unstable offset is the start of the earliest transaction that is
// open, or ended by a marker that is not yet below the high watermark. The last
// stable offset is that or the high watermark.
//
// A Table is plain data and not for concurrent use. It reads no clock.
package producers
