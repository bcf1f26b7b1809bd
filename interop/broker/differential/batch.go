package differential

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// batch is what a client sends to a partition.
type batch struct {
	count    int
	size     int // of each value
	codec    int // gzip, snappy, lz4, zstd; 0 for none
	keyless  bool
	time     int64 // since longAgo
	spread   int64 // between records
	sequence string
	fault    string
}

// faults are the ways in which a batch is not as it should be, those that a
// broker takes too.
var faults = []string{"empty", "cut", "long", "two", "magic 0", "magic 1", "magic 3", "magic -1", "sum", "short length", "trailing bytes",
	"trailing batch", "no records", "fewer records", "one more record", "last delta", "count and last delta", "long record", "control",
	"bit 0x40", "bit 0x80", "base offset", "no sequence", "deltas", "garbage", "codec 5", "codec 7", "leader epoch", "max timestamp below",
	"max timestamp above", "in two days", "no timestamp", "large"}

// sequencings are what a producer says of itself.
var sequencings = []string{"next", "next", "next", "next", "again", "again", "older", "gap", "next epoch", "last epoch", "nobody", "longer"}

func (g *generator) batch() batch {
	b := batch{count: 1 + g.IntN(4), size: mostly(g, 80, 10+g.IntN(40), 0, 300, 600), codec: mostly(g, 50, 0, 1, 2, 3, 4), keyless: g.chance(30),
		time: g.Int64N(100), spread: mostly[int64](g, 70, 1, 0, -1, 10)}
	if g.chance(45) {
		b.sequence = pick(g, sequencings...)
	}
	if g.chance(15) {
		b.fault = pick(g, faults...)
	}
	if b.fault == "deltas" {
		b.codec = 1 + g.IntN(4) // those that are not compressed are row 2
		if g.squeezes {
			b.fault = "" // and so are those that are compressed anew
		}
	}
	return b
}

func (b batch) bytes(c *client, p partition) []byte {
	out := kmsg.NewRecordBatch()
	out.PartitionLeaderEpoch, out.Magic = -1, 2
	out.FirstTimestamp = longAgo + b.time
	out.ProducerID, out.ProducerEpoch, out.FirstSequence = -1, -1, -1
	count := b.count
	if b.sequence != "" {
		count = b.sequenced(&out, c, p)
	}
	switch b.fault {
	case "in two days":
		out.FirstTimestamp = started.Add(48 * time.Hour).UnixMilli()
	case "no timestamp":
		out.FirstTimestamp = -1
	}
	out.MaxTimestamp = out.FirstTimestamp
	var records []byte
	for i := range count {
		records = b.record(i).append(records)
		out.MaxTimestamp = max(out.MaxTimestamp, out.FirstTimestamp+int64(i)*b.spread)
	}
	out.LastOffsetDelta, out.NumRecords = int32(count-1), int32(count)
	out.Attributes = int16(b.codec)
	out.Records = compress(b.codec, records)
	return b.finish(&out)
}

type record kmsg.Record

func (b batch) record(i int) *record {
	size := b.size
	if b.fault == "large" {
		size = 3000
	}
	r := record{TimestampDelta64: int64(i) * b.spread, OffsetDelta: int32(i), Value: []byte(strings.Repeat(string(rune('a'+i)), size))}
	if !b.keyless {
		r.Key = fmt.Appendf(nil, "k%d", i)
	}
	if b.fault == "deltas" {
		r.OffsetDelta++
	}
	if b.size%3 == 0 {
		r.Headers = []kmsg.Header{{Key: "h", Value: []byte{1}}}
	}
	return &r
}

// append writes a record with its length in front.
func (r *record) append(dst []byte) []byte {
	k := kmsg.Record(*r)
	r.Length = int32(len(k.AppendTo(nil)) - 1) // a length of 0 is one byte
	k.Length = r.Length
	return k.AppendTo(dst)
}

// finish makes the checksum and the length right, or wrong.
func (b batch) finish(out *kmsg.RecordBatch) []byte {
	switch b.fault {
	case "no records":
		out.NumRecords, out.LastOffsetDelta = 0, -1
	case "fewer records":
		out.NumRecords = -1
	case "one more record":
		out.NumRecords++
	case "last delta":
		out.LastOffsetDelta++
	case "count and last delta":
		out.NumRecords++
		out.LastOffsetDelta++
	case "long record":
		if b.codec == 0 {
			out.Records[0] = 0x7e // its length: 63, or more than there is
		}
	case "control":
		out.Attributes |= 0x20
	case "bit 0x40":
		out.Attributes |= 0x40
	case "bit 0x80":
		out.Attributes |= 0x80
	case "base offset":
		out.FirstOffset = 5
	case "no sequence":
		out.ProducerID, out.ProducerEpoch = noProducer, 0
		out.FirstSequence = -1
	case "garbage":
		out.Attributes, out.Records = max(out.Attributes, 1), []byte("no such thing")
	case "codec 5", "codec 7":
		out.Attributes = int16(b.fault[len(b.fault)-1] - '0')
	case "leader epoch":
		out.PartitionLeaderEpoch = 7
	case "max timestamp below":
		out.MaxTimestamp -= 5
	case "max timestamp above":
		out.MaxTimestamp += 5
	case "magic 0", "magic 1", "magic 3", "magic -1":
		out.Magic = map[string]int8{"magic 0": 0, "magic 1": 1, "magic 3": 3, "magic -1": -1}[b.fault]
	}
	out.Length = int32(headerSize - lengthSize + len(out.Records))
	out.CRC = int32(crc32.Checksum(out.AppendTo(nil)[21:], castagnoli))
	switch b.fault {
	case "sum":
		out.CRC ^= 1
	case "long":
		out.Length += 10
	case "short length":
		out.Length = 13
	}
	raw := out.AppendTo(nil)
	switch b.fault {
	case "empty":
		return []byte{}
	case "cut":
		return raw[:len(raw)-1-b.size%len(raw)]
	case "two":
		return append(raw, raw...)
	case "trailing bytes":
		return append(raw, "some"...)
	case "trailing batch":
		return append(raw, slices.Clone(raw[:40])...)
	}
	return raw
}

// sequenced fills in the producer, and returns how many records it has then.
func (b batch) sequenced(out *kmsg.RecordBatch, c *client, p partition) int {
	s := c.sequence(p)
	first, count := s.next, int32(b.count)
	out.ProducerID, out.ProducerEpoch = c.producer, c.epoch
	s.again = false
	switch b.sequence {
	case "again", "older", "longer":
		back := map[string]int{"again": 1, "longer": 1, "older": 3}[b.sequence]
		if len(s.past) >= back {
			old := s.past[len(s.past)-back]
			first, count, s.again = old.first, old.count, true
			if b.sequence == "longer" {
				count++
			}
		}
	case "gap":
		first += 2
	case "next epoch":
		c.epoch++
		out.ProducerEpoch = c.epoch
		first = 0
	case "last epoch":
		out.ProducerEpoch--
	case "nobody":
		out.ProducerID++
	}
	s.sent = &run{first, count}
	out.FirstSequence = first
	return int(count)
}

func compress(codec int, b []byte) []byte {
	if codec == 0 {
		return b
	}
	compressor, err := kgo.DefaultCompressor([]kgo.CompressionCodec{kgo.GzipCompression(), kgo.SnappyCompression(),
		kgo.Lz4Compression(), kgo.ZstdCompression()}[codec-1])
	if err != nil {
		panic(err) // the codecs are these
	}
	out, _ := compressor.Compress(new(bytes.Buffer), b)
	return out
}
