package compact

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"time"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/inorder"
	"github.com/seglog/seglog/segment"
)

// ErrMapTooSmall says that the keys of a single batch do not fit the map, nor
// could they be written to a file.
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

	// NoSpill says that keys are not to be written to a file, however many rounds
	// it takes: an earlier one found no room. See Result.NoSpill.
	NoSpill bool

	// Replace puts the files of r in the place of those segments, which are a
	// run of Segments. ErrChanged says that they are in the log no more.
	Replace func(old []*segment.Segment, r *Replacement) error

	hash  func(key []byte) uint64 // nil but in tests
	spill bool                    // to write keys to a file in any case
}

// Run carries the round out. On error the log is as compacted as it got, which
// the next round finds out by itself.
func (r Round) Run(ctx context.Context) (result Result, err error) {
	c := &cleaner{Round: r, keys: newKeyFile(r.Config.FS, r.Config.Dir)}
	c.tally.undone = r.End
	if c.hash == nil {
		seed := maphash.MakeSeed() // another one each time keeps two keys from colliding in every cleaning
		c.hash = func(key []byte) uint64 { return maphash.Bytes(seed, key) }
	}
	c.main = newWorker(c)
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		c.workers = append(c.workers, newWorker(c))
	}
	c.jobs = inorder.Start(len(c.workers), func(n int, j *chunk) error { return c.work(c.workers[n], j) }, func(j *chunk) error { return c.done(j) })
	defer func() {
		c.jobs.Stop()
		c.releasePins()
		err = errors.Join(err, c.keys.remove())
		if c.marks != nil {
			err = errors.Join(err, c.marks.remove())
		}
	}()
	if err := c.findNewest(ctx); err != nil {
		return c.result(), err
	}
	err = c.copyAll(ctx)
	return c.result(), err
}

// findNewest is the first pass.
func (c *cleaner) findNewest(ctx context.Context) error {
	err := c.mapKeys(ctx)
	if err != nil || !c.tooManyRounds() && !c.spill {
		return err
	}
	none := c.mapped == c.FirstDirty
	if c.NoSpill {
		err = errTemporary
	} else {
		err = c.partition(ctx)
	}
	switch {
	case err == nil || !errors.Is(err, errTemporary):
		return err
	case none:
		return fmt.Errorf("%w, which has %d: %w", ErrMapTooSmall, c.Options.MapBytes, err)
	case !c.NoSpill:
		// A full disk needs compaction the most. What is mapped is still there.
		c.Config.Logger.Warn("compact: going on in rounds, which take longer", "error", err)
		c.tally.noSpill = true
	}
	return nil
}

// maxWorkers is how many goroutines a round may start: a cleaning is work in the
// background.
const maxWorkers = 4

// cleaner is a round under way. What workers read of it does not change while
// they are at work.
type cleaner struct {
	Round
	main    *worker   // what the round's own goroutine reads with
	workers []*worker // one for each of the others
	jobs    *inorder.Pipe[chunk]
	work    func(*worker, *chunk) error // what is done with them, while none is under way
	done    func(*chunk) error
	keys    *keyFile
	newest  *keyMap
	marks   *marks // or, where the map has no room, which records are superseded
	full    bool   // there was a key that found no room
	mapped  int64  // all keys in [FirstDirty, mapped) are known
	txns    *txns  // as of the batch given out last
	ordinal int64  // of the record behind it
	indexes indexMemory
	tally   tally // without the workers'
}

// releasePins lets go of the segments. No worker is at work.
func (c *cleaner) releasePins() {
	c.main.sources.release()
	for _, w := range c.workers {
		w.sources.release()
	}
}

// pass begins one over the batches from offset from on: work is what workers
// make of a chunk, done takes it in order. What is seen of aborted transactions
// is added to seen.
func (c *cleaner) pass(from int64, seen map[int64]bool, work func(*worker, *chunk) error, done func(*chunk) error) {
	c.txns, c.ordinal = newTxns(c.Aborted, from, seen), 0
	c.work, c.done = work, done
}

// judgeTxn notes what a batch's transaction came to, and counts its records.
// Batches are given in order.
func (c *cleaner) judgeTxn(b *batch) error {
	b.ordinal, c.ordinal = c.ordinal, c.ordinal+int64(max(b.Count, 0))
	b.aborted, b.discardable, b.abort = false, false, nil
	if !b.Control() {
		b.aborted = c.txns.data(&b.BatchHeader)
		return nil
	}
	if _, err := c.main.read(&b.Batch); err != nil {
		return err
	}
	var key []byte // nil if it is empty
	if len(c.main.records) > 0 {
		key = c.main.records[0].Key
	}
	var err error
	b.discardable, b.abort, err = c.txns.control(&b.BatchHeader, key)
	return err
}
