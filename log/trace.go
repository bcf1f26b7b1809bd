package log

import (
	"time"

	"github.com/seglog/seglog/recovery"
)

// Trace is told of events. Any func may be nil. They are called without locks
// held, by the goroutine that did the work, and may call the log.
type Trace struct {
	// Recovered is called once, at the end of Open.
	Recovered func(*recovery.Report)
	// Rolled is called when a new segment was begun.
	Rolled func(RollEvent)
	// Synced is called after every sync, failed ones included.
	Synced func(SyncEvent)
	// Dropped is called when whole segments were removed.
	Dropped func(DropEvent)
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

func call[E any](f func(E), e E) {
	if f != nil {
		f(e)
	}
}
