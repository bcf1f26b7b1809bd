package record

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// damageable gives one batch of each golden and of each codec, with several
// records.
func damageable(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	for _, g := range goldens {
		all[g.name] = unhex(g.hex)
	}
	for c := None; c.valid(); c++ {
		all[fmt.Sprintf("five records, %v", c)] = build(t, BatchOptions{BaseOffset: 9, Codec: c}, benchRecords(5)...).Bytes()
	}
	return all
}

// A batch cut short at any byte is short, never corrupt and never a smaller
// batch.
func TestEveryTruncation(t *testing.T) {
	for name, raw := range damageable(t) {
		for n := range raw {
			_, err := Parse(raw[:n])
			require.ErrorIs(t, err, ErrShort, "%s: %d of %d bytes", name, n, len(raw))
			if _, err := ParseHeader(raw[:n]); n < HeaderSize {
				require.ErrorIs(t, err, ErrShort, "%s: %d of %d bytes", name, n, len(raw))
			} else {
				require.NoError(t, err)
			}
		}
	}
}

// One flipped bit anywhere but in the base offset and the leader epoch makes
// an error: of k records none is seen. A flipped length may ask for more
// bytes, whether or not more bytes follow.
func TestEveryBitFlip(t *testing.T) {
	for name, raw := range damageable(t) {
		for bit := range 8 * len(raw) {
			flipped := append([]byte{}, raw...)
			flipped[bit/8] ^= 1 << (bit % 8)
			flipped = append(flipped, raw...) // the next batch
			b, err := Parse(flipped)
			switch at := bit / 8; {
			case at < posLength && flipped[0] >= 0x80:
				require.ErrorIs(t, err, ErrCorrupt, "negative offset")
			case at < posLength || at >= posLeaderEpoch && at < posMagic:
				require.NoError(t, err, "%s: bit %d is outside the CRC", name, bit)
				require.Equal(t, raw[posMagic:], b.Bytes()[posMagic:])
			case at < posLeaderEpoch:
				require.Error(t, err, "%s: length bit %d", name, bit)
			case at == posMagic && flipped[at] < 2:
				require.ErrorIs(t, err, ErrUnsupportedMagic)
			default:
				require.ErrorIs(t, err, ErrCorrupt, "%s: bit %d", name, bit)
			}
		}
	}
}

func TestMagic(t *testing.T) {
	raw := unhex(goldens[0].hex)
	for magic := range 256 {
		raw[posMagic] = byte(magic)
		_, err := Parse(raw)
		switch magic {
		case 0, 1:
			require.ErrorIs(t, err, ErrUnsupportedMagic)
			require.NotErrorIs(t, err, ErrCorrupt)
			_, err = Parse(raw[:posMagic+1]) // the magic is enough to tell
			require.ErrorIs(t, err, ErrUnsupportedMagic)
		case 2:
			require.NoError(t, err)
		default:
			require.ErrorIs(t, err, ErrCorrupt)
		}
	}
}

// Headers that cannot be, with a CRC that fits them.
func TestImpossibleHeaders(t *testing.T) {
	valid := BatchHeader{LastOffsetDelta: 1, Count: 2, BaseTimestamp: 5, MaxTimestamp: 5}
	payload := []byte{0x0c, 0, 0, 0, 1, 1, 0, 0x0c, 0, 0, 2, 1, 1, 0}
	b, err := Parse(assemble(valid, payload))
	require.NoError(t, err)
	require.NoError(t, Validate(b, new(Decoder)))

	for name, change := range map[string]func(*BatchHeader){
		"base offset":        func(h *BatchHeader) { h.BaseOffset = -1 },
		"last offset delta":  func(h *BatchHeader) { h.LastOffsetDelta, h.Count = -1, 0 },
		"count":              func(h *BatchHeader) { h.Count = -1 },
		"count and range":    func(h *BatchHeader) { h.Count = 3 },
		"past the last":      func(h *BatchHeader) { h.BaseOffset = 1<<63 - 2 },
		"range past int32":   func(h *BatchHeader) { h.LastOffsetDelta, h.Count = 1<<31-1, -1<<31 },
		"count of all ones":  func(h *BatchHeader) { h.LastOffsetDelta, h.Count = -1, -1 },
		"smallest of deltas": func(h *BatchHeader) { h.LastOffsetDelta = -1 << 31 },
	} {
		h := valid
		change(&h)
		_, err := Parse(assemble(h, payload))
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
	for _, length := range []int32{-1, -1 << 31, 0, 13, 14, 48, 1<<31 - 1, 1<<31 - 12} {
		raw := assemble(valid, payload)
		binary.BigEndian.PutUint32(raw[posLength:], uint32(length))
		_, err := Parse(raw)
		require.ErrorIs(t, err, ErrCorrupt, length)
	}
	for length := 14; length < HeaderSize-logOverhead; length++ { // with a CRC that fits
		raw := assemble(valid, payload)
		binary.BigEndian.PutUint32(raw[posLength:], uint32(length))
		binary.BigEndian.PutUint32(raw[posCRC:], checksum(raw[:length+logOverhead]))
		_, err := Parse(raw)
		require.ErrorIs(t, err, ErrCorrupt, length)
	}
	raw := assemble(valid, payload)
	raw[posMagic] = 0
	binary.BigEndian.PutUint32(raw[posLength:], minLegacyLength-1)
	_, err = Parse(raw)
	require.ErrorIs(t, err, ErrCorrupt, "too short for any magic")
	_, err = Parse(make([]byte, 4096)) // what preallocation leaves
	require.ErrorIs(t, err, ErrCorrupt)
}

// Payloads that are not what the header says, with a CRC that fits them: an
// error, and no record after it.
func TestMalformedRecords(t *testing.T) {
	header := BatchHeader{LastOffsetDelta: 3, Count: 1}
	tests := []struct {
		name    string
		header  BatchHeader
		payload string // hex
	}{
		{"length past the end", header, "0e000000010100"},
		{"length negative", header, "01000000010100"},
		{"length zero", header, "00000000010100"},
		{"length unterminated", header, "80808080808080"},
		{"length of six bytes", header, "8c8080808000" + "000000010100"},
		{"length beyond 32 bits", header, "8c80808070" + "000000010100"},
		{"time delta of eleven bytes", header, "20" + "00" + "8080808080808080808000" + "00010100"},
		{"time delta beyond 64 bits", header, "1e" + "00" + "80808080808080808002" + "00010100"},
		{"offset delta negative", header, "0c000001010100"},
		{"offset delta past the range", header, "0c000008010100"},
		{"offset delta repeated", BatchHeader{LastOffsetDelta: 3, Count: 2}, "0c000002010100" + "0c000002010100"},
		{"offset delta descending", BatchHeader{LastOffsetDelta: 3, Count: 2}, "0c000004010100" + "0c000002010100"},
		{"key length -2", header, "0c000000030100"},
		{"key past the record", header, "0c000000080100"},
		{"value length -2", header, "0c000000010300"},
		{"value past the record", header, "0c000000010800"},
		{"value into the next record", BatchHeader{LastOffsetDelta: 3, Count: 2}, "0c000000010400" + "0c000002010100"},
		{"no header count", header, "0c0000000101" + "02"},
		{"header count negative", header, "0c000000010101"},
		{"header count of more than there is", header, "0c000000010102"},
		{"header count of gigabytes", header, "1400000001" + "01" + "feffffff0f"},
		{"header key null", header, "100000000101020101"},
		{"header key past the record", header, "100000000101020401"},
		{"header value past the record", header, "100000000101020002"},
		{"header value length -2", header, "100000000101020003"},
		{"bytes behind the headers", header, "0e0000000101" + "0000"},
		{"bytes behind the last record", header, "0c000000010100" + "00"},
		{"a record more than counted", header, "0c000000010100" + "0c000002010100"},
		{"a record less than counted", BatchHeader{LastOffsetDelta: 3, Count: 2}, "1a0000000101" + "0002000000000000"},
		{"none of the records counted", header, ""},
		{"records in an empty batch", BatchHeader{LastOffsetDelta: 3}, "0c000000010100"},
		{"codec 5", BatchHeader{LastOffsetDelta: 3, Count: 1, Attributes: 5}, "0c000000010100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Parse(assemble(tt.header, unhex(tt.payload)))
			require.NoError(t, err)
			var d Decoder
			err = Validate(b, &d)
			require.ErrorIs(t, err, ErrCorrupt)
			t.Log(err)
			var r Record
			ok, again := d.Next(&r)
			require.False(t, ok)
			require.Equal(t, err, again, "the error stays")
			require.ErrorIs(t, drain(b), ErrCorrupt)
		})
	}
}

// A count that the payload has no room for is refused before any record.
func TestCountBeyondPayload(t *testing.T) {
	b, err := Parse(assemble(BatchHeader{LastOffsetDelta: 1<<31 - 1, Count: 1<<31 - 1}, unhex("0c000000010100")))
	require.NoError(t, err)
	require.ErrorIs(t, new(Decoder).Reset(b), ErrCorrupt)
}

func drain(b Batch) (err error) {
	for _, err = range new(Decoder).Records(b) {
	}
	return err
}

// What compaction leaves is valid.
func TestThinned(t *testing.T) {
	for _, tt := range []struct {
		name    string
		header  BatchHeader
		payload string
		offsets []int64
	}{
		{"first gone", BatchHeader{LastOffsetDelta: 2, Count: 2, MaxTimestamp: 0}, "0c000002010100" + "0c000004010100", []int64{101, 102}},
		{"middle gone", BatchHeader{LastOffsetDelta: 2, Count: 2}, "0c000000010100" + "0c000004010100", []int64{100, 102}},
		{"last gone", BatchHeader{LastOffsetDelta: 2, Count: 2}, "0c000000010100" + "0c000002010100", []int64{100, 101}},
		{"all gone", BatchHeader{LastOffsetDelta: 2, BaseTimestamp: -1, MaxTimestamp: 77}, "", nil},
		{"all gone, still marked compressed", BatchHeader{LastOffsetDelta: 2, Attributes: 4}, "", nil},
		{"horizon", BatchHeader{LastOffsetDelta: 2, Count: 1, Attributes: 0x40, BaseTimestamp: 10, MaxTimestamp: 7}, "0c000502010100", []int64{101}},
		{"unused attributes", BatchHeader{LastOffsetDelta: 2, Count: 1, Attributes: -0x80}, "0c000002010100", []int64{101}},
		{"record attributes", BatchHeader{LastOffsetDelta: 2, Count: 1}, "0c5a0002010100", []int64{101}},
		{"marker", BatchHeader{Attributes: 0x30, Count: 1, ProducerID: 1}, "20000000" + "0800000001" + "0c00000000002a" + "00", []int64{100}},
		{"marker of no known type", BatchHeader{Attributes: 0x20, Count: 1}, "14000000" + "0800000063" + "01" + "00", []int64{100}},
		{"largest delta", BatchHeader{LastOffsetDelta: 1<<31 - 1, Count: 1}, "140000feffffff0f010100", []int64{100 + 1<<31 - 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.header.BaseOffset = 100
			b, err := Parse(assemble(tt.header, unhex(tt.payload)))
			require.NoError(t, err)
			require.NoError(t, Validate(b, new(Decoder)))
			var offsets []int64
			for _, r := range readAllRecords(t, b) {
				offsets = append(offsets, r.Offset)
			}
			require.Equal(t, tt.offsets, offsets)
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		header  BatchHeader
		payload string
	}{
		{"max timestamp too large", BatchHeader{Count: 1, BaseTimestamp: 5, MaxTimestamp: 6}, "0c000000010100"},
		{"max timestamp too small", BatchHeader{Count: 1, BaseTimestamp: 5, MaxTimestamp: 4}, "0c000000010100"},
		{"max timestamp without any", BatchHeader{Count: 1, BaseTimestamp: -1, MaxTimestamp: 0}, "0c000000010100"},
		{"control key", BatchHeader{Count: 1, Attributes: 0x20}, "0c000000010100"},
		{"marker value", BatchHeader{Count: 1, Attributes: 0x30}, "14000000" + "0800000001" + "01" + "00"},
	} {
		b, err := Parse(assemble(tt.header, unhex(tt.payload)))
		require.NoError(t, err)
		require.ErrorIs(t, Validate(b, new(Decoder)), ErrCorrupt, tt.name)
		require.NoError(t, drain(b), tt.name)
	}
}

func TestZeroBatch(t *testing.T) {
	require.NoError(t, Validate(Batch{}, new(Decoder)))
	require.ErrorIs(t, Validate(Batch{BatchHeader: BatchHeader{Count: 1}}, new(Decoder)), ErrCorrupt)
	_, err := new(Decoder).Payload(Batch{BatchHeader: BatchHeader{Attributes: 1}})
	require.NoError(t, err)
}
