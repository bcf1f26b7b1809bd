package producers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
)

// The snapshot file, all big-endian:
//
//	int16  version, 1
//	uint32 CRC-32C of everything behind it
//	int32  number of producers
//	then for each
//	  int64 producer id      int16 epoch          int32 last sequence
//	  int64 last offset      int32 offset delta   int64 timestamp
//	  int32 coordinator epoch                     int64 first offset of the open transaction
//
// -1 is none. Of the remembered batches only the newest is kept.
//
// Version rule: another version is an error, and an error means that the file
// is dropped and an older one is used.
const (
	snapshotVersion = 1
	snapshotHeader  = 10
	snapshotEntry   = 46
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode is the table as a snapshot file for the offset Next, producers in the
// order of their ids.
func (t *Table) Encode() []byte {
	b := make([]byte, snapshotHeader, snapshotHeader+snapshotEntry*len(t.producers))
	binary.BigEndian.PutUint16(b, snapshotVersion)
	binary.BigEndian.PutUint32(b[6:], uint32(len(t.producers)))
	for _, id := range slices.Sorted(maps.Keys(t.producers)) {
		p := t.producers[id]
		last, ok := p.last()
		if !ok {
			last = batch{lastSequence: none, lastOffset: none}
		}
		b = binary.BigEndian.AppendUint64(b, uint64(id))
		b = binary.BigEndian.AppendUint16(b, uint16(p.epoch))
		b = binary.BigEndian.AppendUint32(b, uint32(last.lastSequence))
		b = binary.BigEndian.AppendUint64(b, uint64(last.lastOffset))
		b = binary.BigEndian.AppendUint32(b, uint32(last.offsetDelta))
		b = binary.BigEndian.AppendUint64(b, uint64(p.timestamp))
		b = binary.BigEndian.AppendUint32(b, uint32(p.coordinatorEpoch))
		b = binary.BigEndian.AppendUint64(b, uint64(p.txnFirst))
	}
	binary.BigEndian.PutUint32(b[2:], crc32.Checksum(b[6:], castagnoli))
	return b
}

// Decode reads a snapshot file for the offset next.
func Decode(b []byte, next int64) (*Table, error) {
	if len(b) < snapshotHeader {
		return nil, fmt.Errorf("producers: snapshot of %d bytes, want at least %d", len(b), snapshotHeader)
	}
	if v := int16(binary.BigEndian.Uint16(b)); v != snapshotVersion {
		return nil, fmt.Errorf("producers: snapshot version %d, want %d", v, snapshotVersion)
	}
	if sum, want := crc32.Checksum(b[6:], castagnoli), binary.BigEndian.Uint32(b[2:]); sum != want {
		return nil, fmt.Errorf("producers: snapshot CRC %08x, want %08x", sum, want)
	}
	n := int(int32(binary.BigEndian.Uint32(b[6:])))
	if n < 0 || len(b) != snapshotHeader+n*snapshotEntry {
		return nil, fmt.Errorf("producers: snapshot of %d producers in %d bytes", n, len(b))
	}
	t := &Table{next: next, producers: make(map[int64]*producer, n)}
	for e := b[snapshotHeader:]; len(e) > 0; e = e[snapshotEntry:] {
		if err := t.decodeEntry(e); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Table) decodeEntry(e []byte) error {
	id := int64(binary.BigEndian.Uint64(e))
	p := newProducer()
	p.epoch = int16(binary.BigEndian.Uint16(e[8:]))
	b := batch{
		lastSequence: int32(binary.BigEndian.Uint32(e[10:])),
		lastOffset:   int64(binary.BigEndian.Uint64(e[14:])),
		offsetDelta:  int32(binary.BigEndian.Uint32(e[22:])),
		timestamp:    int64(binary.BigEndian.Uint64(e[26:])),
	}
	p.coordinatorEpoch = int32(binary.BigEndian.Uint32(e[34:]))
	p.txnFirst = int64(binary.BigEndian.Uint64(e[38:]))
	if b.lastOffset >= 0 {
		p.push(b)
	}
	p.timestamp = b.timestamp
	if id < 0 || t.producers[id] != nil || p.txnFirst < none {
		return errors.New("producers: snapshot with a producer that cannot be")
	}
	t.producers[id] = p
	if p.txnFirst != none {
		t.open = insert(t.open, Txn{ProducerID: id, First: p.txnFirst})
	}
	return nil
}

// Producer is a producer's state, for people to look at; -1 is none.
type Producer struct {
	ID               int64
	Epoch            int16
	LastSequence     int32
	LastOffset       int64
	LastTimestamp    int64 // ms
	CoordinatorEpoch int32
	TxnFirst         int64
}

// Producers lists the table, in the order of ids.
func (t *Table) Producers() []Producer {
	list := make([]Producer, 0, len(t.producers))
	for _, id := range slices.Sorted(maps.Keys(t.producers)) {
		p := t.producers[id]
		x := Producer{ID: id, Epoch: p.epoch, LastSequence: none, LastOffset: none,
			LastTimestamp: p.timestamp, CoordinatorEpoch: p.coordinatorEpoch, TxnFirst: p.txnFirst}
		if b, ok := p.last(); ok {
			x.LastSequence, x.LastOffset = b.lastSequence, b.lastOffset
		}
		list = append(list, x)
	}
	return list
}
