package log

import (
	"time"

	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
)

// Trace is told of events. Any func may be nil. They are called by the goroutine
// that did the work, before the call that it was part of returns, and with
// nothing held: they may call every method of the Log, Close and Compact among
// them, and of a Manager. What they do is told of, too, so a hook that syncs in
// Synced has to see to its own end.
type Trace struct {
	// Scanned is called every few MiB while Open, or Refresh of a log opened
	// ReadOnly, verifies batches: beyond the recovery point, or all of a log that
	// another program closed.
	Scanned func(ScanEvent)
	// Recovered is called once, at the end of Open.
	Recovered func(*recovery.Report)
	// Rolled is called when a new segment was begun.
	Rolled func(RollEvent)
	// Synced is called after every sync, failed ones included.
	Synced func(SyncEvent)
	// Dropped is called when whole segments were removed.
	Dropped func(DropEvent)
	// Compacted is called after a compaction that did something or failed.
	Compacted func(CompactEvent)
}

// ScanEvent says that so many bytes more of a log were verified.
type ScanEvent struct {
	Dir   string
	Bytes int64
}

// RollEvent says that the segment based at Base was begun and the one before it
// is sealed.
type RollEvent struct {
	Base   int64
	Reason string
}

// SyncEvent tells of one sync of the files.
type SyncEvent struct {
	Durable int64 // the end of what is durable after it
	Took    time.Duration
	Waiters int // how many AppendSync and Sync calls waited for it, the leader included
	Err     error
}

// DropEvent tells of segments removed.
type DropEvent struct {
	Segments []SegmentInfo
	Reason   string
	Err      error // of unlinking; the segments are out of the log all the same
}

// CompactEvent tells of a compaction.
type CompactEvent struct {
	Result compact.Result // as far as it came
	Took   time.Duration
	Err    error
}

// tell calls a hook; while the log is being opened, and a Manager holds what the
// hook may want, it is left for later.
func tell[E any](l *Log, f func(E), e E) {
	switch {
	case f == nil:
	case l.opening:
		l.untold = append(l.untold, func() { f(e) })
	default:
		f(e)
	}
}

// opened ends the opening, and returns what was left to tell.
func (l *Log) opened() (untold []func()) {
	untold, l.untold, l.opening = l.untold, nil, false
	return untold
}

func tellAll(untold []func()) {
	for _, f := range untold {
		f()
	}
}
