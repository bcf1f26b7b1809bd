package log

import (
	"fmt"
	"math"

	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// Configure gives an open log other settings, as a topic's configuration can be
// altered while it serves. They count for what begins after it returns: the next
// batch, the next segment, the next Retain or Compact.
//
// Of o these are taken: SegmentBytes, SegmentAge, Compression, TimestampType,
// TimeBefore, TimeAfter, Retention, Compaction and DeleteDelay. The others stay
// what they were when the log was opened. If o is not valid nothing changes.
//
// A newest segment that is still empty keeps the size it was begun with, so that
// a batch larger than that is ErrTooLarge until a smaller one has been appended.
func (l *Log) Configure(o Options) error {
	next := l.opts
	next.SegmentBytes, next.SegmentAge = o.SegmentBytes, o.SegmentAge
	next.Compression, next.TimestampType = o.Compression, o.TimestampType
	next.TimeBefore, next.TimeAfter = o.TimeBefore, o.TimeAfter
	next.Retention, next.Compaction, next.DeleteDelay = o.Retention, o.Compaction, o.DeleteDelay
	next, err := next.withDefaults()
	if err != nil {
		return err
	}
	if err := l.writable(); err != nil {
		return fmt.Errorf("log: to be configured: %w", err)
	}
	l.settings.Store(&next)
	return nil
}

// configFor is the configuration of a segment that is begun now, for a first
// batch of n bytes.
func (l *Log) configFor(n int64) *segment.Config {
	bytes := max(n, l.settings.Load().SegmentBytes)
	if bytes == l.cfg.Bytes {
		return l.cfg
	}
	cfg := *l.cfg
	cfg.Bytes = bytes
	return &cfg
}

// timeBounds are the smallest and largest time in ms that a client's records may
// have now.
func (o *Options) timeBounds() (earliest, latest int64) {
	earliest, latest = math.MinInt64, math.MaxInt64
	if o.TimestampType == record.LogAppendTime || o.TimeBefore == 0 && o.TimeAfter == 0 {
		return earliest, latest
	}
	now := o.Env.Now().UnixMilli()
	if o.TimeBefore > 0 {
		earliest = now - o.TimeBefore.Milliseconds()
	}
	if o.TimeAfter > 0 {
		latest = now + o.TimeAfter.Milliseconds()
	}
	return earliest, latest
}
