package log

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/notify"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// Log is an open log. See the package comment for its concurrency.
type Log struct {
	dir  string
	opts Options
	cfg  *segment.Config
	lock io.Closer // nil when read-only
	born *recovery.Report

	set      atomic.Pointer[set]
	first    atomic.Int64 // log start offset
	end      atomic.Int64 // log end offset
	durable  atomic.Int64
	appended notify.Notifier // End or a watermark moved, or the log closed

	highWatermark atomic.Int64
	replicated    atomic.Bool  // the high watermark is what was set, not End
	epoch         atomic.Int32 // the newest leader epoch, -1 for none
	unstable      atomic.Int64 // start of the earliest undecided transaction, or MaxInt64
	aborted       atomic.Pointer[[]index.AbortedTxn]
	builders      sync.Pool // of *record.Builder

	openedAt int64 // base of the segment that was active at Open
	commit   commit
	marked   atomic.Bool // the checkpoint on disk does not claim a clean close
	closed   atomic.Bool // for readers; mu.closed is for the others

	compaction compaction

	mu struct {
		sync.Mutex
		active   *segment.Segment
		unsynced []*segment.Segment // sealed and not yet durable, oldest first
		created  int64              // ms, when the active segment was begun here
		newNames bool               // the directory has names not yet synced
		failed   error
		closed   bool
		state    state
		txnFiles []string // transaction indexes written to and not yet synced
		// epochsBehind says that the file of leader epochs is not what state has:
		// nothing may be appended that it would then be wrong about.
		epochsBehind bool
	}
}

// First is the log start offset: the first that can be read. It equals End
// where nothing can.
func (l *Log) First() int64 { return l.first.Load() }

// End is the log end offset: the one the next record gets. Records below it
// survive the process.
func (l *Log) End() int64 { return l.end.Load() }

// Durable is the offset below which records survive a loss of power.
func (l *Log) Durable() int64 { return l.durable.Load() }

// Recovery is what was found and done when the log was opened. It must not be
// changed.
func (l *Log) Recovery() *recovery.Report { return l.born }

// Dir is the directory the log was opened in.
func (l *Log) Dir() string { return l.dir }

// writableLocked says why the log takes no change, nil if it does.
func (l *Log) writableLocked() error {
	switch {
	case l.mu.closed:
		return ErrClosed
	case l.opts.Mode == ReadOnly:
		return ErrReadOnly
	}
	return l.mu.failed
}

func (l *Log) writable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writableLocked()
}
