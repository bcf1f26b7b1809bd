package kafka

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// depth is how much of a log a dump prints.
type depth int

const (
	shallow depth = iota // batches
	deep                 // their records
	full                 // with keys and values
)

func (d depth) flags() []string {
	return map[depth][]string{shallow: nil, deep: {"--deep-iteration"}, full: {"--deep-iteration", "--print-data-log"}}[d]
}

// render is what DumpLogSegments has to print of a directory, as the engine's
// packages read its files.
func render(t *testing.T, dir string, how depth) *dumped {
	t.Helper()
	d := &dumped{lines: map[string][]string{}}
	for _, name := range parts(t, dir) {
		base, suffix, ok := segment.ParseName(name)
		require.True(t, ok, name)
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		lines := []string{}
		say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
		switch suffix {
		case segment.LogSuffix:
			say("Log starting offset: %d", base)
			gaps := renderLog(t, content, how, say)
			if len(gaps) > 0 {
				d.complaints = append(append(d.complaints, "Non-consecutive offsets in "+name), gaps...)
			}
		case segment.IndexSuffix:
			require.Zero(t, len(content)%index.OffsetEntrySize, "size of %s", name)
			x := index.NewOffsets(base, content, len(content)/index.OffsetEntrySize)
			for i := range x.Len() {
				say("offset: %d position: %d", x.At(i).Offset, x.At(i).Position)
			}
			if x.Len() == 0 {
				say("%s is empty.", name)
			}
		case segment.TimeIndexSuffix:
			require.Zero(t, len(content)%index.TimeEntrySize, "size of %s", name)
			x := index.NewTimes(base, content, len(content)/index.TimeEntrySize)
			for i := range x.Len() {
				say("timestamp: %d offset: %d", x.At(i).Timestamp, x.At(i).Offset)
			}
		case segment.TxnIndexSuffix:
			txns, err := index.DecodeTxns(content, base)
			require.NoError(t, err)
			for _, x := range txns {
				say("version: 0 producerId: %d firstOffset: %d lastOffset: %d lastStableOffset: %d", x.ProducerID, x.First, x.Last, x.LastStableOffset)
			}
		case segment.SnapshotSuffix:
			renderSnapshot(t, content, say)
		}
		d.lines[name] = lines
	}
	return d
}

// renderLog renders the batches of a segment, and tells of the gaps in its
// records' offsets. Kafka 4.4's tool takes -1 for the offset before a segment
// and so tells of one at the start of every segment but one based at 0.
func renderLog(t *testing.T, content []byte, how depth, say func(string, ...any)) (gaps []string) {
	t.Helper()
	var d record.Decoder
	last := int64(-1)
	for pos := 0; pos < len(content); {
		b, err := record.Parse(content[pos:])
		require.NoError(t, err, "at position %d", pos)
		horizon := "OptionalLong.empty"
		if ms, ok := b.DeleteHorizon(); ok {
			horizon = fmt.Sprintf("OptionalLong[%d]", ms)
		}
		say("baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d producerId: %d producerEpoch: %d partitionLeaderEpoch: %d "+
			"isTransactional: %t isControl: %t deleteHorizonMs: %s position: %d %s: %d size: %d magic: 2 compresscodec: %s crc: %d isvalid: true",
			b.BaseOffset, b.LastOffset(), b.Count, b.BaseSequence, b.LastSequence(), b.ProducerID, b.ProducerEpoch, b.LeaderEpoch,
			b.Transactional(), b.Control(), horizon, pos, b.TimestampType(), b.MaxTimestamp, b.Size, b.Codec(), b.CRC)
		pos += b.Size
		if how == shallow {
			continue
		}
		for r, err := range d.Records(b) {
			require.NoError(t, err)
			if r.Offset != last+1 {
				gaps = append(gaps, fmt.Sprintf("  %d is followed by %d", last, r.Offset))
			}
			last = r.Offset
			say("%s", renderRecord(t, b, &r, how))
		}
	}
	return gaps
}

func renderRecord(t *testing.T, b record.Batch, r *record.Record, how depth) string {
	t.Helper()
	sequence := int64(-1)
	if b.BaseSequence >= 0 {
		sequence = (int64(b.BaseSequence) + r.Offset - b.BaseOffset) & math.MaxInt32
	}
	var keys []string
	for _, h := range r.Headers {
		keys = append(keys, h.Key)
	}
	text := fmt.Sprintf("| offset: %d %s: %d keySize: %d valueSize: %d sequence: %d headerKeys: [%s]",
		r.Offset, b.TimestampType(), millis(*r), size(r.Key), size(r.Value), sequence, strings.Join(keys, ","))
	if b.Control() {
		kind, err := record.ParseControl(r.Key)
		require.NoError(t, err)
		if kind == record.ControlAbort || kind == record.ControlCommit {
			epoch, err := record.ParseEndTxn(r.Value)
			require.NoError(t, err)
			name := map[record.ControlType]string{record.ControlAbort: "ABORT", record.ControlCommit: "COMMIT"}[kind]
			return text + fmt.Sprintf(" endTxnMarker: %s coordinatorEpoch: %d", name, epoch)
		}
		return text
	}
	if how == full {
		if r.Key != nil {
			text += " key: " + string(r.Key)
		}
		if r.Value != nil {
			text += " payload: " + string(r.Value)
		}
	}
	return text
}

func size(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}

// renderSnapshot renders Kafka's producer snapshot, version 1: after version,
// CRC and count, entries of 46 bytes.
func renderSnapshot(t *testing.T, b []byte, say func(string, ...any)) {
	t.Helper()
	require.GreaterOrEqual(t, len(b), 10)
	n := int(binary.BigEndian.Uint32(b[6:]))
	require.Len(t, b, 10+46*n)
	for e := b[10:]; len(e) > 0; e = e[46:] {
		at := func(i int) int64 { return int64(binary.BigEndian.Uint64(e[i:])) }
		at32 := func(i int) int32 { return int32(binary.BigEndian.Uint32(e[i:])) }
		lastSequence, lastOffset, delta := at32(10), at(14), at32(22)
		text := fmt.Sprintf("producerId: %d producerEpoch: %d coordinatorEpoch: %d currentTxnFirstOffset: %s lastTimestamp: %d",
			at(0), int16(binary.BigEndian.Uint16(e[8:])), at32(34), optional(at(38)), at(26))
		if lastOffset >= 0 {
			text += fmt.Sprintf(" firstSequence: %d lastSequence: %d lastOffset: %d offsetDelta: %d timestamp: %d",
				(lastSequence-delta)&math.MaxInt32, lastSequence, lastOffset, delta, at(26))
		}
		say("%s", text)
	}
}

func optional(n int64) string {
	if n < 0 {
		return "OptionalLong.empty"
	}
	return fmt.Sprintf("OptionalLong[%d]", n)
}
