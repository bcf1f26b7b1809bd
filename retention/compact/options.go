package compact

import (
	"fmt"
	"math"
	"time"
)

// Options say when a log is worth compacting, what is kept of it, and with how
// much memory. The zero value is Kafka's defaults; names in parentheses are
// Kafka's.
type Options struct {
	// MinDirtyRatio is the share of the log that must be dirty for upkeep to
	// compact it, to be exceeded (min.cleanable.dirty.ratio). 0 is 0.5; anything
	// tiny, like 1e-9, compacts whatever is dirty.
	MinDirtyRatio float64
	// MinLag is the age below which a segment is left alone, by its largest
	// timestamp (min.compaction.lag.ms). 0 is none.
	MinLag time.Duration
	// MaxLag is the age of a dirty record from which the log is compacted
	// whatever the ratio (max.compaction.lag.ms), and after which a segment is
	// ended so that it can be. 0 is none.
	MaxLag time.Duration
	// DeleteRetention is how long a tombstone or a transaction's marker stays
	// after the first cleaning that saw it (delete.retention.ms). 0 is a day;
	// less than a millisecond lets it go in the next.
	DeleteRetention time.Duration
	// MapBytes is the memory of the key map, 24 bytes a slot, of which nine in
	// ten are used (log.cleaner.dedupe.buffer.size). 0 is 128 MiB.
	MapBytes int64
}

const (
	defaultDirtyRatio      = 0.5
	defaultDeleteRetention = 24 * time.Hour
	defaultMapBytes        = 128 << 20
	loadFactor             = 0.9 // log.cleaner.io.buffer.load.factor
)

// WithDefaults is o with what was left zero set.
func (o Options) WithDefaults() (Options, error) {
	if o.MinDirtyRatio < 0 || o.MinDirtyRatio > 1 || o.MinLag < 0 || o.MaxLag < 0 || o.DeleteRetention < 0 {
		return o, fmt.Errorf("compact: MinDirtyRatio outside 0 to 1, or a negative MinLag, MaxLag or DeleteRetention")
	}
	if o.MapBytes != 0 && o.MapBytes < minMapBytes {
		return o, fmt.Errorf("compact: MapBytes is %d, want at least %d", o.MapBytes, minMapBytes)
	}
	if o.MinDirtyRatio == 0 {
		o.MinDirtyRatio = defaultDirtyRatio
	}
	if o.MaxLag == 0 {
		o.MaxLag = math.MaxInt64
	}
	if o.DeleteRetention == 0 {
		o.DeleteRetention = defaultDeleteRetention
	}
	if o.MapBytes == 0 {
		o.MapBytes = defaultMapBytes
	}
	return o, nil
}
