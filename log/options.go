package log

import (
	"fmt"
	"log/slog"
	"time"

	idx "github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
	"github.com/seglog/seglog/segment"
)

// Options are a log's settings. The zero value works; names in parentheses are
// Kafka's.
type Options struct {
	// SegmentBytes is the size a segment is not to exceed (segment.bytes), and
	// so the largest batch. 0 is 1 GiB, at most 2 GiB - 1.
	SegmentBytes int64
	// SegmentAge is the span of timestamps after which a segment is ended though
	// it is not full (segment.ms). 0 is 7 days.
	SegmentAge time.Duration
	// IndexInterval is the number of bytes between offset index entries
	// (index.interval.bytes). 0 is 1 KiB; it is widened where a full segment's
	// index would outgrow 10 MiB.
	IndexInterval int64
	// MaxBatchBytes is the size of the largest batch before compression, and
	// the limit to what one may decompress to. 0 is 64 MiB.
	MaxBatchBytes int
	// Compression is the codec of the batches Append builds.
	Compression record.Codec
	// TimestampType says whether records keep their own times (CreateTime) or
	// get the time of the append (message.timestamp.type).
	TimestampType record.TimestampType
	// TimeBefore and TimeAfter bound how far the times of records that come by
	// AppendBatch from a client may be from the present, if they keep their own
	// (message.timestamp.before.max.ms and after.max.ms). 0 is no bound; less than
	// a millisecond allows no difference. A record without a time passes.
	TimeBefore, TimeAfter time.Duration
	// Retention and Compaction are what becomes of old records
	// (cleanup.policy): by Retention alone segments are dropped (delete), by
	// Compaction alone all but the newest record of each key (compact); with
	// both, both; with neither everything is kept.
	//
	// Retention is what Retain goes by.
	Retention retention.Policy
	// Compaction is what Compact and upkeep go by. Of a compacted log each
	// record has a key: Append, and AppendBatch from a client, refuse others.
	Compaction *compact.Options
	// DeleteDelay is how long the files of segments that were dropped stay, under
	// names that end in .deleted (file.delete.delay.ms). With 0 they are unlinked
	// by who drops them; with more they are by Maintain and Retain, away from
	// whoever drops and syncs, and a mistake can be copied away until then. Close
	// unlinks them, and so does Open after a crash.
	DeleteDelay time.Duration
	// MappedSegments bounds how many sealed segments are mapped at once. 0 is
	// 128.
	MappedSegments int
	// Mode is how the log is opened: for writing unless said.
	Mode Mode
	// Logger is told what was recovered and what went wrong; nil discards. It is
	// called with locks held: a Handler that appends to this log has to leave that
	// to another goroutine.
	Logger *slog.Logger
	// Trace is told of events as they happen.
	Trace Trace
	// Env is the world around the log: the system's unless set.
	Env Env

	cache *segment.Cache // shared with other logs; nil: one of its own
	// cutting does a cut to an offset, or the dropping of all, once what a Manager
	// has noted of the log is true behind it, too; nil: nobody has.
	cutting func(l *Log, to int64, all bool, cut func() error) error
	// syncParent makes the name of the log's directory durable, for several of a
	// Manager at a time; nil: the log does it.
	syncParent func() error
}

// Mode is how a log is opened.
type Mode int

const (
	// ReadWrite opens for reading and appending: one process at a time.
	ReadWrite Mode = iota
	// ReadOnly opens without a lock and changes nothing, also beside a process
	// that writes. Damage does not keep it from opening.
	ReadOnly
	// Repair is ReadWrite for a log that is damaged: what is bad is cut out and
	// kept aside in the directory.
	Repair
	// Follower is ReadWrite for a replica that copies a leader's log: the high
	// watermark is the one last set, not End, and without leader epochs to
	// compare with the leader's the log is cut to it when it is opened.
	Follower
)

// Env is what a log takes from the system. It is used with locks held, and must
// not call the log.
type Env struct {
	FS  vfs.FS           // nil: the operating system's
	Now func() time.Time // nil: time.Now
}

func (o Options) withDefaults() (Options, error) {
	def(&o.SegmentBytes, 1<<30)
	def(&o.SegmentAge, 7*24*time.Hour)
	def(&o.IndexInterval, 1<<10)
	def(&o.MaxBatchBytes, record.DefaultMaxBytes)
	def(&o.MappedSegments, 128)
	def(&o.Logger, slog.New(slog.DiscardHandler))
	if o.Env.FS == nil {
		o.Env.FS = vfs.OS
	}
	if o.Env.Now == nil {
		o.Env.Now = time.Now
	}
	switch {
	case o.SegmentBytes < record.HeaderSize || o.SegmentBytes > segment.MaxBytes:
		return o, fmt.Errorf("log: SegmentBytes is %d, want %d to %d", o.SegmentBytes, record.HeaderSize, segment.MaxBytes)
	case o.IndexInterval < 0 || o.SegmentAge < 0 || o.MaxBatchBytes < 0 || o.MappedSegments < 0 || o.DeleteDelay < 0 ||
		o.TimeBefore < 0 || o.TimeAfter < 0:
		return o, fmt.Errorf("log: a negative IndexInterval, SegmentAge, MaxBatchBytes, DeleteDelay, MappedSegments, TimeBefore or TimeAfter")
	case o.Compression < record.None || o.Compression > record.Zstd:
		return o, fmt.Errorf("log: Compression is %d, want a codec", o.Compression)
	case o.TimestampType != record.CreateTime && o.TimestampType != record.LogAppendTime:
		return o, fmt.Errorf("log: TimestampType is %d, want CreateTime or LogAppendTime", o.TimestampType)
	case o.Mode < ReadWrite || o.Mode > Follower:
		return o, fmt.Errorf("log: Mode is %d, want ReadWrite, ReadOnly, Repair or Follower", o.Mode)
	}
	if o.Compaction != nil {
		c, err := o.Compaction.WithDefaults()
		if err != nil {
			return o, err
		}
		// What never comes into a sealed segment is never compacted.
		o.Compaction, o.SegmentAge = &c, min(o.SegmentAge, c.MaxLag)
	}
	return o, nil
}

// def sets a field that was left zero.
func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o *Options) segmentConfig(dir string) *segment.Config {
	cache := o.cache
	if cache == nil {
		cache = segment.NewCache(o.MappedSegments)
	}
	return &segment.Config{
		FS:            o.Env.FS,
		Dir:           dir,
		Bytes:         o.SegmentBytes,
		IndexInterval: idx.Interval(o.IndexInterval, o.SegmentBytes, segment.MaxIndexBytes),
		MaxBatchBytes: o.MaxBatchBytes,
		Cache:         cache,
		ReadOnly:      o.Mode == ReadOnly,
		Logger:        o.Logger,
	}
}
