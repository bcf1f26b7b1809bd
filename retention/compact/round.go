package compact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// ErrMapTooSmall says that the keys of a single batch do not fit the map.
var ErrMapTooSmall = errors.New("compact: MapBytes is too small for the keys of one batch")

// ErrChanged says that segments left the log while they were compacted. What
// replaces them was thrown away.
var ErrChanged = errors.New("compact: segments were dropped meanwhile")

// Producer is what a log remembers of a producer, which compaction must leave
// to be found.
type Producer struct {
	LastOffset int64 // of its newest data batch, -1 for none
	Epoch      int16
}

// Round is the input of one round: as much of the dirty part as one map holds.
type Round struct {
	Config        *segment.Config
	Segments      []*segment.Segment // the sealed ones that begin below End, oldest first
	FirstDirty    int64
	End           int64 // a segment's base; nothing at or above it is looked at
	HighWatermark int64
	Now           time.Time
	Options       Options // with defaults
	Aborted       []index.AbortedTxn
	Producers     map[int64]Producer // by id
	// Seen has the marker offsets of the aborted transactions of which an
	// earlier round of the same cleaning met data; this one adds to it. An entry
	// of the transaction index never goes in the cleaning that its data goes in:
	// somebody may be about to look it up who has read the data.
	Seen map[int64]bool

	// Replace puts the files of r in the place of those segments, which are a
	// run of Segments. ErrChanged says that they are in the log no more.
	Replace func(old []*segment.Segment, r *Replacement) error

	hash func(key []byte) uint64 // nil but in tests
}

// Run carries the round out. On error the log is as compacted as it got, which
// the next round finds out by itself.
func (r Round) Run(ctx context.Context) (result Result, err error) {
	c := &cleaner{Round: r, sources: newSources(r.Segments), keys: newKeyFile(r.Config.FS, r.Config.Dir)}
	c.decoder.MaxBytes = r.Config.MaxBatchBytes
	c.tally.undone = r.End
	if c.hash == nil {
		c.hash = seeded(rand.Uint64())
	}
	defer func() {
		c.sources.release()
		err = errors.Join(err, c.keys.remove())
	}()
	if err := c.mapKeys(ctx); err != nil {
		return c.result(), err
	}
	err = c.copyAll(ctx)
	return c.result(), err
}

// seeded is xxhash64 with that seed. Another one each time keeps two keys from
// colliding in every cleaning.
func seeded(seed uint64) func([]byte) uint64 {
	d := xxhash.NewWithSeed(seed)
	return func(key []byte) uint64 {
		d.ResetWithSeed(seed)
		_, _ = d.Write(key)
		return d.Sum64()
	}
}

// cleaner is a round under way.
type cleaner struct {
	Round
	sources *sources
	decoder record.Decoder
	thinner record.Thinner
	keys    *keyFile
	newest  *keyMap
	mapped  int64 // the map knows all keys in [FirstDirty, mapped)
	txns    *txns
	records []record.Raw // of the batch at hand
	kept    []record.Raw // those that stay
	indexes indexMemory
	tally   tally
}

// read reads the records of a batch into c.records.
func (c *cleaner) read(b record.Batch) (payload []byte, err error) {
	payload, err = c.decoder.Payload(b)
	if err != nil {
		return nil, fmt.Errorf("batch at offset %d: %w", b.BaseOffset, err)
	}
	c.records = c.records[:0]
	var r record.Raw
	for cursor := record.NewCursor(&b.BatchHeader, payload); ; {
		ok, err := cursor.Next(&r)
		if !ok || err != nil {
			return payload, err
		}
		c.records = append(c.records, r)
	}
}

// controlKey is the key of the control batch just read, nil if it is empty.
func (c *cleaner) controlKey() []byte {
	if len(c.records) == 0 {
		return nil
	}
	return c.records[0].Key
}

// window is how many records are looked up together.
const window = 64

// windows cuts the records just read into runs to be looked up together, their
// hashes beside them. Records without a key have any.
func (c *cleaner) windows(each func(records []record.Raw, hashes []uint64) error) error {
	var hashes [window]uint64
	for run := range slices.Chunk(c.records, window) {
		for i := range run {
			hashes[i] = c.hash(run[i].Key)
		}
		c.newest.touch(hashes[:len(run)])
		if err := each(run, hashes[:len(run)]); err != nil {
			return err
		}
	}
	return nil
}
