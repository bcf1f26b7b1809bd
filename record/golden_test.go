package record

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// goldens are batches that Apache Kafka and its clients wrote, by what they
// show.
var goldens = []struct {
	name string
	hex  string
	want BatchHeader // Size and CRC are checked by parsing
	recs []Record
}{
	{
		name: "null value, headers, idempotent producer",
		hex:  "0000000000000000000000520000000002b46723bb000000000001000001a22a2237e7000001a22a2237e70000000000000002000000000000000000022200000014736d616c6c2d6e6f6e650276001c0007020101040261023102610232",
		want: BatchHeader{LastOffsetDelta: 1, BaseTimestamp: 0x1a22a2237e7, MaxTimestamp: 0x1a22a2237e7, ProducerID: 2, Count: 2},
		recs: []Record{
			{Offset: 0, Time: at(0x1a22a2237e7), Key: []byte("small-none"), Value: []byte("v")},
			{Offset: 1, Time: at(0x1a22a2237e3), Headers: []Header{{"a", []byte("1")}, {"a", []byte("2")}}},
		},
	},
	{
		name: "null key, no producer",
		hex:  "000000000000000b0000003c000000010298a4e8c60000000000000000019e4514a26d0000019e4514a26dffffffffffffffffffffffffffff000000011400000001080114000000",
		want: BatchHeader{BaseOffset: 11, LeaderEpoch: 1, BaseTimestamp: 0x19e4514a26d, MaxTimestamp: 0x19e4514a26d, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 1},
		recs: []Record{{Offset: 11, Time: at(0x19e4514a26d), Value: []byte("\x01\x14\x00\x00")}},
	},
	{
		name: "end of transaction",
		hex:  "0000000000000011000000420000000002344152ff003000000000000001a22a25a50b000001a22a25a50b00000000000000230001ffffffff000000012000000008000000010c00000000000000",
		want: BatchHeader{BaseOffset: 17, Attributes: 0x30, BaseTimestamp: 0x1a22a25a50b, MaxTimestamp: 0x1a22a25a50b, ProducerID: 35, ProducerEpoch: 1, BaseSequence: -1, Count: 1},
		recs: []Record{{Offset: 17, Time: at(0x1a22a25a50b), Key: ControlKey(ControlCommit), Value: EndTxnValue(0)}},
	},
	{
		name: "end of transaction with a delete horizon",
		hex:  "000000000000000900000044000000000251641987007000000000000001a22a261660000001a22a25a42d00000000000000220001ffffffff000000012400e5c8030008000000010c00000000000000",
		want: BatchHeader{BaseOffset: 9, Attributes: 0x70, BaseTimestamp: 0x1a22a261660, MaxTimestamp: 0x1a22a25a42d, ProducerID: 34, ProducerEpoch: 1, BaseSequence: -1, Count: 1},
		recs: []Record{{Offset: 9, Time: at(0x1a22a25a42d), Key: ControlKey(ControlCommit), Value: EndTxnValue(0)}},
	},
	{
		name: "leader change",
		hex:  "00000000000000000000004f000000010222cfe6460020000000000000019e45149f240000019e45149f24ffffffffffffffffffffffffffff000000013a0000000800000002260000000000010200000001000200000001000000",
		want: BatchHeader{LeaderEpoch: 1, Attributes: 0x20, BaseTimestamp: 0x19e45149f24, MaxTimestamp: 0x19e45149f24, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 1},
		recs: []Record{{Offset: 0, Time: at(0x19e45149f24), Key: ControlKey(ControlLeaderChange), Value: unhex("00000000000102000000010002000000010000")}},
	},
	{
		name: "compacted: empty, kept for its producer",
		hex:  "00000000000000050000003100000000029e027624000000000001ffffffffffffffff000001a22a228cc9000000000000002100000000000500000000",
		want: BatchHeader{BaseOffset: 5, LastOffsetDelta: 1, BaseTimestamp: -1, MaxTimestamp: 0x1a22a228cc9, ProducerID: 33, BaseSequence: 5},
	},
	{
		name: "compacted: the last of two records gone",
		hex:  "000000000000000f000000450000000002e27b95d6001000000001000001a22a228cce000001a22a228cce00000000000000230000000000000000000126000000106b6570742d74786e0a737461797300",
		want: BatchHeader{BaseOffset: 15, Attributes: 0x10, LastOffsetDelta: 1, BaseTimestamp: 0x1a22a228cce, MaxTimestamp: 0x1a22a228cce, ProducerID: 35, Count: 1},
		recs: []Record{{Offset: 15, Time: at(0x1a22a228cce), Key: []byte("kept-txn"), Value: []byte("stays")}},
	},
	{
		name: "tombstone with a delete horizon",
		hex:  "00000000000001760000006f0000004802b32fd154004000000000000001967d443893000001966882da12ffffffffffffffffffff00000000000000017a0081fa8acc0200660001001a61646d696e536572766963654265636f6d696e67416e73776572000f6a7774436865636b52657175657374000000000100",
		want: BatchHeader{BaseOffset: 374, LeaderEpoch: 72, Attributes: 0x40, BaseTimestamp: 0x1967d443893, MaxTimestamp: 0x1966882da12, ProducerID: -1, ProducerEpoch: -1, Count: 1},
		recs: []Record{{Offset: 374, Time: at(0x1966882da12), Key: unhex("0001001a61646d696e536572766963654265636f6d696e67416e73776572000f6a7774436865636b5265717565737400000000")}},
	},
	{
		name: "gzip",
		hex:  "000000000000000c000000690000000502c670f91f00010000000000000190b5b474ea00000190b5b474ea000000000000000b000000000000000000011f8b08000000000000ff7363606060646012482c28d0cb4bcc4d55f3cc2b49cdc9c9ccf24e4ccb4e0cc8294dcfcc0300b4ee9ebd24000000",
		want: BatchHeader{BaseOffset: 12, LeaderEpoch: 5, Attributes: 1, BaseTimestamp: 0x190b5b474ea, MaxTimestamp: 0x190b5b474ea, ProducerID: 11, Count: 1},
		recs: []Record{{Offset: 12, Time: at(0x190b5b474ea), Value: []byte{}, Headers: []Header{{"app.name", []byte("IntellijKafkaPlugin")}}}},
	},
	{
		name: "snappy",
		hex:  "00000000000000070000006a00000000025199a787000200000001000001a22a2237e7000001a22a2237e700000000000000040000000000000000000282534e415050590000000001000000010000002523882600000018736d616c6c2d736e617070790276001c0007020101040261023102610232",
		want: BatchHeader{BaseOffset: 7, Attributes: 2, LastOffsetDelta: 1, BaseTimestamp: 0x1a22a2237e7, MaxTimestamp: 0x1a22a2237e7, ProducerID: 4, Count: 2},
		recs: []Record{
			{Offset: 7, Time: at(0x1a22a2237e7), Key: []byte("small-snappy"), Value: []byte("v")},
			{Offset: 8, Time: at(0x1a22a2237e3), Headers: []Header{{"a", []byte("1")}, {"a", []byte("2")}}},
		},
	},
	{
		name: "lz4, log append time",
		hex:  "00000000000000000000005400000000021e258f36000b000000010000016aeca50fbd0000016aeca5140dffffffffffffffffffffffffffff0000000204224d18604082140000801200000000067f2001001200000200067f20010000000000",
		want: BatchHeader{Attributes: 11, LastOffsetDelta: 1, BaseTimestamp: 0x16aeca50fbd, MaxTimestamp: 0x16aeca5140d, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 2},
		recs: []Record{
			{Offset: 0, Time: at(0x16aeca5140d), TimestampType: LogAppendTime, Key: []byte{}, Value: []byte("\x7f \x01")},
			{Offset: 1, Time: at(0x16aeca5140d), TimestampType: LogAppendTime, Key: []byte{}, Value: []byte("\x7f \x01")},
		},
	},
	{
		name: "zstd",
		hex:  "000000000000000f0000005e00000000029006eb77000400000001000001a22a2237e7000001a22a2237e700000000000000060000000000000000000228b52ffd00580801002200000014736d616c6c2d7a7374640276001c0007020101040261023102610232010000",
		want: BatchHeader{BaseOffset: 15, Attributes: 4, LastOffsetDelta: 1, BaseTimestamp: 0x1a22a2237e7, MaxTimestamp: 0x1a22a2237e7, ProducerID: 6, Count: 2},
		recs: []Record{
			{Offset: 15, Time: at(0x1a22a2237e7), Key: []byte("small-zstd"), Value: []byte("v")},
			{Offset: 16, Time: at(0x1a22a2237e3), Headers: []Header{{"a", []byte("1")}, {"a", []byte("2")}}},
		},
	},
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func TestGoldens(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			raw := unhex(g.hex)
			b, err := Parse(raw)
			require.NoError(t, err)
			require.Equal(t, raw, b.Bytes())
			g.want.Size, g.want.CRC = len(raw), b.CRC
			require.Equal(t, g.want, b.BatchHeader)
			require.Equal(t, g.recs, readAllRecords(t, b))
			require.NoError(t, Validate(b, new(Decoder)))
			if again, ok := rebuild(t, b); ok {
				require.Equal(t, raw, again)
			}
		})
	}
}

// Of the goldens, those that a Builder can make are made byte for byte.
func TestGoldensRebuilt(t *testing.T) {
	rebuilt := 0
	for _, g := range goldens {
		b, err := Parse(unhex(g.hex))
		require.NoError(t, err)
		if _, ok := rebuild(t, b); ok {
			rebuilt++
		}
	}
	require.Equal(t, 4, rebuilt)
}

// The first golden, written out field by field.
func TestGoldenByHand(t *testing.T) {
	var b Builder
	b.Reset(BatchOptions{Producer: &Producer{ID: 2}})
	require.NoError(t, b.Add(&Record{Time: at(0x1a22a2237e7), Key: []byte("small-none"), Value: []byte("v")}))
	require.NoError(t, b.Add(&Record{Time: at(0x1a22a2237e3), Headers: []Header{{"a", []byte("1")}, {"a", []byte("2")}}}))
	raw, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, goldens[0].hex, hex.EncodeToString(raw))
}
