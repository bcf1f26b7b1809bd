package log

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

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
	home string    // vfs.FS.Boot of the directory, when it was opened
	born *recovery.Report
	// settings are Options as Configure has changed them; opts has what stays.
	settings atomic.Pointer[Options]

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
	changes       atomic.Int64 // see atOnce
	cuts          atomic.Int64 // how often records were dropped off the end: their offsets may be given again
	builders      sync.Pool    // of *record.Builder

	openedAt int64 // base of the segment that was active at Open
	commit   commit
	marked   atomic.Bool             // the checkpoint on disk does not claim a clean close
	noted    atomic.Pointer[reached] // what the checkpoint on disk says is durable, or more
	closed   atomic.Bool             // for readers; mu.closed is for the others
	closing  sync.Mutex              // held by Close, so that a second one waits for the first

	compaction compaction
	graves     graves

	opening bool     // nobody else has it yet
	untold  []func() // what hooks will be told once it is open

	// exchanging is held while segments that are in use no more are still in the
	// set: readers that meet one wait for it. Its holder has commit.
	exchanging sync.Mutex

	grown struct { // see changed
		sync.Mutex
		end  int64
		seen time.Time
	}

	mu struct {
		sync.Mutex
		active    *segment.Segment
		unsynced  []*segment.Segment // sealed and not yet durable, oldest first
		created   int64              // ms, when the active segment was begun here
		newNames  bool               // the directory has names not yet synced
		failed    error
		stuck     error // failed, and the set has segments that are in use no more
		closed    bool
		told      bool // of a high watermark
		state     state
		stateTorn bool     // a batch of a read-only log may have been taken in twice
		txnFiles  []string // transaction indexes written to and not yet synced
		// txnsBehind are the bases of segments whose transaction index may not be
		// what state has; the next snapshot mends it.
		txnsBehind map[int64]bool
		// epochsBehind says that the file of leader epochs is not what state has:
		// nothing may be appended, nor a checkpoint vouch for it, before it is.
		epochsBehind bool
	}
}

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

// Err says why the log takes no change any more: ErrFailed or ErrClosed; nil if it
// does, or never did.
func (l *Log) Err() error {
	if err := l.writable(); err != ErrReadOnly {
		return err
	}
	return nil
}

// failed says whether it is one that takes no change any more: see ErrFailed.
func (l *Log) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.failed != nil
}

func (l *Log) writable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writableLocked()
}
