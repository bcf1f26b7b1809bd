package index

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The transaction index, Kafka's .txnindex, has an entry for each transaction
// whose ABORT marker lies in the segment, in the order of the markers:
// big-endian, 34 bytes each, no header, no checksum.
//
//	int16  version, 0
//	int64  producer id
//	int64  offset of the transaction's first record
//	int64  offset of its marker
//	int64  the last stable offset once the marker was there
//
// A partial entry at the end is none. Another version is an error, and an error
// means that the index is derived anew from the batches.

// TxnEntrySize is the size in bytes of an entry of the transaction index.
const TxnEntrySize = 34

// AbortedTxn is an entry of the transaction index.
type AbortedTxn struct {
	ProducerID       int64
	First            int64 // offset of its first record
	Last             int64 // offset of its marker
	LastStableOffset int64 // once that marker was there
}

// AppendTxn adds the entry to an encoded transaction index.
func AppendTxn(b []byte, a AbortedTxn) []byte {
	b = binary.BigEndian.AppendUint16(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(a.ProducerID))
	b = binary.BigEndian.AppendUint64(b, uint64(a.First))
	b = binary.BigEndian.AppendUint64(b, uint64(a.Last))
	return binary.BigEndian.AppendUint64(b, uint64(a.LastStableOffset))
}

// DecodeTxns reads a transaction index of the segment based at base.
func DecodeTxns(b []byte, base int64) ([]AbortedTxn, error) {
	var list []AbortedTxn
	last := int64(math.MinInt64)
	for i := 0; len(b) >= TxnEntrySize; i++ {
		if v := binary.BigEndian.Uint16(b); v != 0 {
			return nil, fmt.Errorf("index: transaction index entry %d has version %d, want 0", i, v)
		}
		a := AbortedTxn{
			ProducerID:       int64(binary.BigEndian.Uint64(b[2:])),
			First:            int64(binary.BigEndian.Uint64(b[10:])),
			Last:             int64(binary.BigEndian.Uint64(b[18:])),
			LastStableOffset: int64(binary.BigEndian.Uint64(b[26:])),
		}
		if a.Last < base || a.Last <= last || a.First < 0 || a.First >= a.Last { // zeros, too
			return nil, fmt.Errorf("index: transaction index entry %d, offsets %d to %d, cannot be in segment %d", i, a.First, a.Last, base)
		}
		list, last, b = append(list, a), a.Last, b[TxnEntrySize:]
	}
	return list, nil
}
