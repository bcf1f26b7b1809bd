package main

import (
	"bytes"

	"github.com/seglog/seglog/record"
)

// batch gathers lines until there are enough of them. Their bytes are copied
// to memory that is used again for the next batch, as Append keeps nothing.
type batch struct {
	keySep    []byte // none: no keys
	most      int    // records
	mostBytes int

	records []record.Record
	memory  []byte
	size    int // an upper bound of the encoded records
}

// recordOverhead is the most that a record without headers takes beside its
// key and value: length, attributes, timestamp and offset deltas, three counts.
const recordOverhead = 5 + 1 + 10 + 5 + 5 + 5 + 1

func newBatch(keySep []byte, most, mostBytes int) batch {
	return batch{keySep: keySep, most: most, mostBytes: mostBytes - record.HeaderSize}
}

func (b *batch) full() bool { return len(b.records) >= b.most || b.size >= b.mostBytes }

// fits says whether a line can still come into the batch. Into an empty one any
// line can: it is for the log to refuse it.
func (b *batch) fits(line []byte) bool {
	return len(b.records) == 0 || b.size+len(line)+recordOverhead <= b.mostBytes
}

func (b *batch) add(line []byte) {
	from := len(b.memory)
	// Where this moves the memory, earlier records keep the old one.
	b.memory = append(b.memory, line...)
	line = b.memory[from:len(b.memory):len(b.memory)]
	r := record.Record{Value: line}
	if len(b.keySep) > 0 {
		if i := bytes.Index(line, b.keySep); i >= 0 {
			r.Key, r.Value = line[:i:i], line[i+len(b.keySep):]
		}
	}
	b.records = append(b.records, r)
	b.size += len(line) + recordOverhead
}

func (b *batch) clear() {
	clear(b.records)
	b.records, b.memory, b.size = b.records[:0], b.memory[:0], 0
	const keep = 4 << 20
	if cap(b.memory) > keep {
		b.memory = nil // of one long line
	}
}
