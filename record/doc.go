// Package record builds, parses and validates record batches in Apache
// Kafka's format: the bytes of a log file, of a produce request and of a
// fetch response.
//
// A [Builder] makes a batch of records. [Parse] finds a whole, unaltered
// batch at the start of some bytes, a [Decoder] reads the records in it, and
// [Validate] says whether they are well formed. The package touches no file
// and no clock, and no input makes it panic or take memory out of proportion:
// every length is held against the bytes that are there before it is used,
// and decompression is bounded.
//
// # Version
//
// The format is RecordBatch version 2, the "magic" in byte 16 of a batch, as
// Kafka writes it since 0.11 (KIP-98). The magic is at the same place in all
// versions, and says what the rest means:
//
//   - 0 and 1, from before 0.11, are recognised and refused with
//     [ErrUnsupportedMagic]. They are not damage.
//   - 2 is read and written. Additions to it have come, and may come, as
//     attribute bits and codec numbers. A bit with no meaning here is kept.
//     A codec with no meaning here leaves the batch whole to Parse and makes
//     its records unreadable.
//   - Anything else is [ErrCorrupt]: it is a damaged byte far more likely
//     than a format that does not exist yet.
//
// # Batch
//
// Integers are big-endian and signed. A batch is a header of 61 bytes and
// the records:
//
//	at size
//	 0    8  base offset          of the first record as produced
//	 8    4  length               bytes after this field: the size less 12
//	12    4  leader epoch         -1 unknown
//	16    1  magic                2
//	17    4  CRC                  unsigned; CRC-32C of all bytes from 21 on
//	21    2  attributes           bits below
//	23    4  last offset delta    last offset less base offset
//	27    8  base timestamp       of the first record, or the delete horizon
//	35    8  max timestamp        largest of the records, or of the log
//	43    8  producer id          -1 none
//	51    2  producer epoch       -1 none
//	53    4  base sequence        -1 none
//	57    4  record count
//	61       records              compressed as a whole, if at all
//
// Base offset and leader epoch are outside the CRC: a log assigns both when
// it appends, without reading the records ([SetBaseOffset],
// [SetLeaderEpoch]). A damaged bit in them goes unseen here; a log sees it,
// since offsets follow one another. Damage to the length or the magic makes
// an error of its own, and damage to anything else fails the CRC.
//
// The attributes:
//
//	bits 0-2   codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
//	bit  3     timestamp type: 0 CreateTime, 1 LogAppendTime
//	bit  4     transactional
//	bit  5     control batch
//	bit  6     base timestamp is the delete horizon (KIP-534)
//
// The range of offsets is that of the header, whatever records are left:
// compaction removes records and keeps base offset, last offset delta and
// base sequence. So the count may be less than the offsets, down to 0, and
// neither the first nor the last offset need have its record.
//
// # Record
//
// Lengths and deltas are zigzag varints, of 5 bytes at most, the timestamp
// delta of 10:
//
//	length             bytes after this field
//	attributes         one byte, 0, not looked at
//	timestamp delta    to the base timestamp; may be negative
//	offset delta       to the base offset; strictly increasing
//	key length         -1 is null
//	key
//	value length       -1 is null
//	value
//	header count
//	for each header:
//	  key length       never null
//	  key              UTF-8, not checked
//	  value length     -1 is null
//	  value
//
// A record fills its length exactly, and the records fill the payload
// exactly.
//
// Times are milliseconds since 1970, -1 for none. Under CreateTime a record's
// is base timestamp plus delta, with a delete horizon as well, the deltas
// then counting from the horizon. Under LogAppendTime it is the max
// timestamp for every record, and the deltas mean nothing.
//
// # Compression
//
// Gzip, LZ4 and Zstandard are those formats' own streams; several in a row
// count as one. LZ4 frames have independent blocks. Snappy comes in two
// framings: that of snappy-java, which Java clients write and so do we, and
// a single block without any. Both are read.
//
// # Control records
//
// The records of a control batch are not data. Their key is an int16 version
// and an int16 type ([ControlType]); the value depends on the type, for the
// end of a transaction an int16 version and an int32 coordinator epoch.
package record
