package differential

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// headerSize is what a batch takes beside its records, and lengthSize what of it
// its length does not count.
const (
	headerSize = 61
	lengthSize = 12
)

// shown is a batch as it is compared. How well a broker compresses is its own
// affair: what counts is the codec, and what comes out.
type shown struct {
	FirstOffset     int64
	LeaderEpoch     int32
	Magic           int8
	Sum             string
	Attributes      string
	LastOffsetDelta int32
	FirstTimestamp  int64
	MaxTimestamp    int64
	ProducerID      int64
	ProducerEpoch   int16
	FirstSequence   int32
	NumRecords      int32
	Content         string
}

var decompressor = kgo.DefaultDecompressor()

// takeApart reads the batches of a records field. A partial one at the end may
// be there or not.
func takeApart(b []byte, prefix string) []shown {
	all := []shown{}
	for len(b) >= headerSize {
		var batch kmsg.RecordBatch
		_ = batch.ReadFrom(b) // of a partial batch at least the header
		size := lengthSize + int(batch.Length)
		if size < headerSize || size > len(b) {
			break
		}
		s := shown{FirstOffset: batch.FirstOffset, LeaderEpoch: batch.PartitionLeaderEpoch, Magic: batch.Magic,
			Sum: "right", Attributes: fmt.Sprintf("0x%02x", uint16(batch.Attributes)), LastOffsetDelta: batch.LastOffsetDelta,
			FirstTimestamp: batch.FirstTimestamp, MaxTimestamp: batch.MaxTimestamp, ProducerID: batch.ProducerID,
			ProducerEpoch: batch.ProducerEpoch, FirstSequence: batch.FirstSequence, NumRecords: batch.NumRecords}
		if crc32.Checksum(b[21:size], castagnoli) != uint32(batch.CRC) {
			s.Sum = "wrong"
		}
		content, err := decompressor.Decompress(b[headerSize:size], kgo.CompressionCodecType(batch.Attributes&7))
		if s.Content = fmt.Sprintf("%08x %q", crc32.ChecksumIEEE(content), strings.ReplaceAll(fmt.Sprintf("%.60s", content), prefix, "")); err != nil {
			s.Content = "unreadable"
		}
		all = append(all, s)
		b = b[size:]
	}
	return all
}
