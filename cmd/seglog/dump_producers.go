package main

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// txnIndex prints a .txnindex file: the transactions that were aborted. Entries
// of 34 bytes: int16 version 0, then int64 each the producer, first offset,
// last offset (the marker's), and last stable offset behind it.
func (d *dumper) txnIndex(data []byte) error {
	const entrySize = 34
	for i := 0; len(data) >= entrySize; i, data = i+1, data[entrySize:] {
		if err := d.stop(); err != nil {
			return err
		}
		if v := be16(data); v != 0 {
			d.bad("entry %d: BAD: version %d, want 0", i, v)
			return nil
		}
		d.printf("entry %d: producer %d aborted offsets %d to %d, last stable offset %d\n",
			i, be64(data[2:]), be64(data[10:]), be64(data[18:]), be64(data[26:]))
	}
	if len(data) > 0 {
		d.bad("BAD: %s behind the last whole entry", formatBytes(int64(len(data))))
	}
	return nil
}

// snapshot prints a .snapshot file, what the log knew of its producers: int16
// version 1, CRC-32C of what follows it, int32 count, entries of 46 bytes.
func (d *dumper) snapshot(data []byte) error {
	const headerSize, entrySize = 10, 46
	if len(data) < headerSize {
		d.bad("BAD: too short for a header")
		return nil
	}
	if v := be16(data); v != 1 {
		d.bad("BAD: version %d, want 1", v)
		return nil
	}
	crc, count := binary.BigEndian.Uint32(data[2:]), be32(data[6:])
	if sum := crc32.Checksum(data[6:], crc32.MakeTable(crc32.Castagnoli)); sum != crc {
		d.bad("BAD: crc %08x, computed %08x", crc, sum)
	}
	d.printf("version 1, crc %08x, %s\n", crc, plural(int64(count), "producer"))
	data = data[headerSize:]
	if int64(len(data)) != int64(count)*entrySize {
		d.bad("BAD: %s of entries, want %d", formatBytes(int64(len(data))), int64(count)*entrySize)
	}
	for ; len(data) >= entrySize; data = data[entrySize:] {
		if err := d.stop(); err != nil {
			return err
		}
		d.producer(data)
	}
	return nil
}

// producer prints an entry of a snapshot; what is -1 is not there.
func (d *dumper) producer(e []byte) {
	id, epoch, lastSequence, lastOffset := be64(e), be16(e[8:]), be32(e[10:]), be64(e[14:])
	delta, time, coordinator, txn := be32(e[22:]), be64(e[26:]), be32(e[34:]), be64(e[38:])
	d.printf("producer %d epoch %d: ", id, epoch)
	if lastOffset >= 0 {
		const wrap = math.MaxInt32 // sequence numbers have 31 bits
		d.printf("sequence %d to %d, last offset %d, offset delta %d, ", (lastSequence-delta)&wrap, lastSequence, lastOffset, delta)
	} else {
		d.printf("no batch, ")
	}
	d.printf("time %s (%d)", millis(time), time)
	if coordinator >= 0 {
		d.printf(", coordinator epoch %d", coordinator)
	}
	if txn >= 0 {
		d.printf(", transaction from %d", txn)
	}
	d.printf("\n")
}

func be16(b []byte) int16 { return int16(binary.BigEndian.Uint16(b)) }
func be32(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }
func be64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
