// Package segment is one segment of a log: the .log file of record batches and
// its two sparse indexes, written by appending, read through shared memory.
//
// # Files
//
// The segment based at offset N is N.log, N.index and N.timeindex, N printed
// as 20 digits. The .log file is record batches back to back (package record),
// the others are package index. N is at most the first offset in the segment
// and above every offset of earlier segments; it need not be an offset that is
// there. Positions are int32, so a segment is at most 2 GiB.
//
// # The life of a segment
//
// A segment is created or reopened active: its .log is mapped writable once,
// at full capacity, while the file underneath grows in steps, each allocated
// before a byte of it is touched, so that a full disk is an error of the
// append and never a fault. Seal ends that: the closing time entry is added
// and all three files are cut to what they hold. A sealed segment is immutable.
// It is mapped on first use and unmapped when the Cache finds it least
// recently used.
//
// # Invariants
//
//   - A published byte, one below Size, never changes while anybody can reach
//     it. Bytes are stored before the index entries that lead to them, those
//     before next and the size that publish them.
//   - All mapped memory of a segment belongs to one region. A reader touches it
//     only under a Pin; the region is unmapped when the last pin goes (pins.go
//     is the only file that touches the count).
//   - Truncation and removal first make the segment gone, then change files:
//     cutting in place only a file that nobody has pinned, and replacing it by
//     a shorter copy otherwise.
//
// # Locks
//
// Append, Seal, Sync, TruncateTo and Close are the owner's, who serialises
// them (Sync alone may run beside Append). Readers take no lock but mu, and
// that only to map a segment that is not mapped.
package segment
