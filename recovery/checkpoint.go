package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// CheckpointName is the checkpoint's file name. Kafka ignores it.
const CheckpointName = "seglog.checkpoint"

// Checkpoint is what a log knows of its files without looking at them.
//
// It is text: a version line, the values, a line for each segment, and
// the xxhash64 of everything before the last line:
//
//	seglog.checkpoint 1
//	clean true
//	recovery-point 368811
//	high-watermark 368811
//	log-start 0
//	drop-from -
//	producers 368811 2 aborted 1
//	cleaned 368796
//	cleaned-noted 368811
//	state epochs 0123456789abcdef snapshot 0123456789abcdef aborted 0123456789abcdef
//	boot 8a2e5d0c-6a4d-4a55-9d3c-0f6f0a6f4e1b/2049:131074
//	ended 4001 first 368790 last 368801
//	segment 0 next 368796 size 26000000 index 50000 timeindex 12000 first 1700000000000 max 1700000060000 at 368795 seal 00a1b2c3d4e5f607
//	segment 368796 next 368811 size 1065 index 0 timeindex 12 first 1700000061000 max 1700000062000 at 368811 seal -
//	xxhash64 0123456789abcdef
//
// The lines from cleaned to boot are only there if they say something.
//
// Version rule: another version is read as a missing checkpoint.
type Checkpoint struct {
	// Clean says that the log was closed after this was written.
	Clean bool
	// RecoveryPoint is the first offset not known to be durable. All of
	// Segments is below it, and synced.
	RecoveryPoint int64
	HighWatermark int64
	LogStart      int64
	// Dropping says that the log is being cut to end at DropFrom: records behind
	// it may still be there, and are not in the log.
	Dropping bool
	DropFrom int64
	// Producers is the number of producers known as of the offset ProducersAt,
	// not above the recovery point: their state is in that offset's snapshot
	// file, which is not there if it is 0. Aborted is the number of aborted
	// transactions below that offset in the transaction indexes. Where
	// ProducersAt is below the oldest segment they say nothing.
	ProducersAt int64
	Producers   int
	Aborted     int
	// Sums prove the files that Producers and Aborted count, and that of the
	// leader epochs; nil for unknown.
	Sums *StateSums
	// Cleaned is the offset below which compaction has left nothing to do.
	Cleaned int64
	// CleanedNoted is the largest offset that a broker's note of how far the log
	// was compacted has been seen to say, or may have been made to say here. One
	// above it says that a broker has compacted the log since.
	CleanedNoted int64
	// Boot is vfs.FS.Boot of the directory when this was written, "" for unknown.
	// As long as it is the same, no crash can have torn what was appended.
	Boot string
	// Ended are the transactions that ended below ProducersAt, and not below the
	// high watermark: those a follower's readers of committed records wait for.
	// A line each; whether they were aborted is not kept.
	Ended []producers.Txn
	// Segments are the facts of all segments below the recovery point, those
	// of the last one as far as it was then written.
	Segments []segment.Facts
}

// StateSums are the xxhash64 of what is noted of batches in files that have no
// checksum, or that could be others than the checkpoint means.
type StateSums struct {
	Epochs   uint64 // leader-epoch-checkpoint, cut to the epochs of [log start, ProducersAt), or up to ProducersAt if Clean
	Snapshot uint64 // the snapshot file of ProducersAt; 0 where Producers is
	Aborted  uint64 // the entries of the transaction indexes below ProducersAt; 0 where Aborted is
}

const (
	checkpointHead  = "seglog.checkpoint 1\n"
	segmentFormat   = "segment %d next %d size %d index %d timeindex %d first %d max %d at %d seal "
	producersFormat = "producers %d %d aborted %d\n"
	cleanedFormat   = "cleaned %d\n"
	notedFormat     = "cleaned-noted %d\n"
	stateFormat     = "state epochs %016x snapshot %016x aborted %016x\n"
	bootFormat      = "boot %s\n"
	endedFormat     = "ended %d first %d last %d\n"
	hashFormat      = "xxhash64 %016x\n"
)

func (c *Checkpoint) encode() []byte {
	var b bytes.Buffer
	b.WriteString(checkpointHead)
	fmt.Fprintf(&b, "clean %t\nrecovery-point %d\nhigh-watermark %d\nlog-start %d\n",
		c.Clean, c.RecoveryPoint, c.HighWatermark, c.LogStart)
	if c.Dropping {
		fmt.Fprintf(&b, "drop-from %d\n", c.DropFrom)
	} else {
		b.WriteString("drop-from -\n")
	}
	fmt.Fprintf(&b, producersFormat, c.ProducersAt, c.Producers, c.Aborted)
	if c.Cleaned > 0 {
		fmt.Fprintf(&b, cleanedFormat, c.Cleaned)
	}
	if c.CleanedNoted > 0 {
		fmt.Fprintf(&b, notedFormat, c.CleanedNoted)
	}
	if c.Sums != nil {
		fmt.Fprintf(&b, stateFormat, c.Sums.Epochs, c.Sums.Snapshot, c.Sums.Aborted)
	}
	if c.Boot != "" {
		fmt.Fprintf(&b, bootFormat, c.Boot)
	}
	for _, t := range c.Ended {
		fmt.Fprintf(&b, endedFormat, t.ProducerID, t.First, t.Last)
	}
	for _, s := range c.Segments {
		fmt.Fprintf(&b, segmentFormat, s.Base, s.Next, s.Size, s.IndexBytes, s.TimeBytes, s.FirstTime, s.MaxTime, s.MaxTimeAt)
		if s.HasSeal {
			fmt.Fprintf(&b, "%016x\n", s.Seal)
		} else {
			b.WriteString("-\n")
		}
	}
	fmt.Fprintf(&b, hashFormat, xxhash.Sum64(b.Bytes()))
	return b.Bytes()
}

func decodeCheckpoint(text []byte) (*Checkpoint, error) {
	tail := len(fmt.Sprintf(hashFormat, 0))
	if len(text) < len(checkpointHead)+tail || !bytes.HasPrefix(text, []byte(checkpointHead)) {
		return nil, fmt.Errorf("it does not begin with %q", strings.TrimSpace(checkpointHead))
	}
	body, last := text[:len(text)-tail], text[len(text)-tail:]
	if want := fmt.Sprintf(hashFormat, xxhash.Sum64(body)); want != string(last) {
		return nil, errors.New("its checksum does not hold")
	}
	c := new(Checkpoint)
	lines := strings.Split(strings.TrimSuffix(string(body[len(checkpointHead):]), "\n"), "\n")
	const heads = 6
	var drop string
	head := strings.Join(lines[:min(heads, len(lines))], "\n") + "\n"
	if _, err := fmt.Sscanf(head, "clean %t\nrecovery-point %d\nhigh-watermark %d\nlog-start %d\ndrop-from %s\n"+producersFormat,
		&c.Clean, &c.RecoveryPoint, &c.HighWatermark, &c.LogStart, &drop, &c.ProducersAt, &c.Producers, &c.Aborted); err != nil {
		return nil, err
	}
	if c.Dropping = drop != "-"; c.Dropping {
		var err error
		if c.DropFrom, err = strconv.ParseInt(drop, 10, 64); err != nil {
			return nil, err
		}
	}
	lines = lines[heads:]
	var sums StateSums
	for _, optional := range []struct {
		format string
		values []any
	}{
		{cleanedFormat, []any{&c.Cleaned}},
		{notedFormat, []any{&c.CleanedNoted}},
		{stateFormat, []any{&sums.Epochs, &sums.Snapshot, &sums.Aborted}},
		{bootFormat, []any{&c.Boot}},
	} {
		keyword, _, _ := strings.Cut(optional.format, "%")
		if len(lines) == 0 || !strings.HasPrefix(lines[0], keyword) {
			continue
		}
		if _, err := fmt.Sscanf(lines[0]+"\n", optional.format, optional.values...); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines[0], err)
		}
		if optional.format == stateFormat {
			c.Sums = &sums
		}
		lines = lines[1:]
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "ended ") {
			var t producers.Txn
			if _, err := fmt.Sscanf(line+"\n", endedFormat, &t.ProducerID, &t.First, &t.Last); err != nil {
				return nil, fmt.Errorf("line %q: %w", line, err)
			}
			c.Ended = append(c.Ended, t)
			continue
		}
		s, err := decodeSegment(line)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		c.Segments = append(c.Segments, s)
	}
	return c, nil
}

func decodeSegment(line string) (s segment.Facts, err error) {
	var seal string
	if _, err := fmt.Sscanf(line, segmentFormat+"%s",
		&s.Base, &s.Next, &s.Size, &s.IndexBytes, &s.TimeBytes, &s.FirstTime, &s.MaxTime, &s.MaxTimeAt, &seal); err != nil {
		return s, err
	}
	if seal == "-" {
		return s, nil
	}
	s.HasSeal = true
	_, err = fmt.Sscanf(seal, "%x", &s.Seal)
	return s, err
}

// ReadCheckpoint reads the checkpoint of a log's directory. A missing one is
// fs.ErrNotExist, one that cannot be believed record.ErrCorrupt.
func ReadCheckpoint(fsys vfs.FS, dir string) (*Checkpoint, error) {
	text, err := vfs.ReadFile(fsys, filepath.Join(dir, CheckpointName))
	if err != nil {
		return nil, err
	}
	c, err := decodeCheckpoint(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", record.ErrCorrupt, filepath.Join(dir, CheckpointName), err)
	}
	return c, nil
}

// WriteCheckpoint replaces the checkpoint, atomically and durably. What it says
// of the segments must be durable before.
func WriteCheckpoint(fsys vfs.FS, dir string, c *Checkpoint) error {
	return vfs.WriteFile(fsys, filepath.Join(dir, CheckpointName), c.encode())
}
