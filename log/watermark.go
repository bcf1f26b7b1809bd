package log

import (
	"runtime"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/invariants"
)

// First is the log start offset: the first that can be read. It equals End
// where nothing can.
func (l *Log) First() int64 { return atOnce(l, func(l *Log) int64 { return l.first.Load() }) }

// End is the log end offset: the one the next record gets. Records below it
// survive the process.
func (l *Log) End() int64 { return l.end.Load() }

// Durable is the offset below which records survive a loss of power.
func (l *Log) Durable() int64 { return atOnce(l, func(l *Log) int64 { return l.durable.Load() }) }

// HighWatermark is the offset below which records are on every in-sync replica:
// as SetHighWatermark said, or End for a log that nobody replicates, which is
// its own only replica.
func (l *Log) HighWatermark() int64 { return atOnce(l, (*Log).highWatermarkNow) }

// LastStable is the last stable offset: below it every transaction is decided.
// A reader that wants committed records only reads up to here (isolation.level
// read_committed). Of a transaction that began below First it is First.
func (l *Log) LastStable() int64 { return atOnce(l, (*Log).lastStableNow) }

func (l *Log) highWatermarkNow() int64 {
	if l.replicated.Load() {
		return min(l.highWatermark.Load(), l.end.Load())
	}
	return l.end.Load()
}

func (l *Log) lastStableNow() int64 {
	return min(max(l.unstable.Load(), l.first.Load()), l.highWatermarkNow())
}

// atOnceLocked makes several watermarks change at one moment, for those who
// read them by atOnce. End is read as it is, so it is changed before the others:
// who has seen it waits for these. An append that moves End alone needs no more
// than that, since what the others are derived from stays.
func (l *Log) atOnceLocked(change func()) {
	l.changes.Add(1)
	invariants.Pause("changing watermarks")
	change()
	invariants.Pause("changed watermarks")
	l.changes.Add(1)
}

// atOnce reads what watermarks say at one moment. The count of changes is odd
// while one is made, which takes no longer than some stores.
func atOnce[T any](l *Log, read func(*Log) T) T {
	for {
		before := l.changes.Load()
		if before%2 == 0 {
			value := read(l)
			if l.changes.Load() == before {
				return value
			}
		}
		runtime.Gosched()
	}
}

// horizon is how far a reader may read, and what it needs to know for that, as
// of one moment.
type horizon struct {
	bound   int64
	aborted []index.AbortedTxn
	cuts    int64 // see Log.cuts
}

func (l *Log) horizon(level Isolation) horizon {
	if level == UpToEnd {
		return horizon{cuts: l.cuts.Load(), bound: l.End()}
	}
	return atOnce(l, func(l *Log) horizon {
		h := horizon{cuts: l.cuts.Load(), bound: l.highWatermarkNow()}
		if level == ReadCommitted {
			h.bound, h.aborted = l.lastStableNow(), *l.aborted.Load()
		}
		return h
	})
}

// holds says whether what was read since the horizon was taken, and is below
// its bound, was in the log at that moment: no offset was given again.
func (l *Log) holds(h horizon) bool { return l.cuts.Load() == h.cuts }

// SetHighWatermark says how far the partition is replicated, clamped to [First,
// End]. From the first call on the high watermark is what was set, also after
// the log is opened again as a Follower. It is kept by the next
// checkpoint or Close.
func (l *Log) SetHighWatermark(offset int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return err
	}
	l.mu.told = true
	l.atOnceLocked(func() {
		l.highWatermark.Store(min(max(offset, l.first.Load()), l.end.Load()))
		l.replicated.Store(true)
		l.mu.state.producers.Replicated(l.highWatermarkNow())
		l.publishLocked()
	})
	l.appended.Notify()
	return nil
}
