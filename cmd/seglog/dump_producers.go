package main

import (
	"encoding/binary"
	"hash/crc32"
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
		d.printf("producer %d epoch %d: last sequence %d, last offset %d, offset delta %d, time %s, coordinator epoch %d, transaction from %d\n",
			be64(data), be16(data[8:]), be32(data[10:]), be64(data[14:]), be32(data[22:]), millis(be64(data[26:])), be32(data[34:]), be64(data[38:]))
	}
	return nil
}

func be16(b []byte) int16 { return int16(binary.BigEndian.Uint16(b)) }
func be32(b []byte) int32 { return int32(binary.BigEndian.Uint32(b)) }
func be64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
