package log

import (
	"context"
	"time"
)

// Every says how often Maintain does what; zero is never.
type Every struct {
	Sync      time.Duration // make what was appended durable, and note it
	SyncBytes int64         // make it durable once that many bytes were appended
	Retain    time.Duration // drop what Options.Retention lets go
}

// lookAtBytes is how often Maintain looks whether SyncBytes were appended. To
// be woken instead would cost every append a wake-up.
const lookAtBytes = 5 * time.Millisecond

// Maintain does the log's upkeep until ctx ends, which is no error, or the log
// is closed or fails, which is. It is a loop for a goroutine of the caller's.
// A retention that fails is reported to the Logger and tried again.
func (l *Log) Maintain(ctx context.Context, every Every) error {
	look := time.Duration(0)
	if every.SyncBytes > 0 {
		look = lookAtBytes
	}
	checkpoint, bytes, retain := newTicker(every.Sync), newTicker(look), newTicker(every.Retain)
	defer checkpoint.stop()
	defer bytes.stop()
	defer retain.stop()
	synced := l.totalBytes()
	for {
		err := l.writable()
		select {
		case <-ctx.Done():
			return nil
		case <-checkpoint.c:
			err = l.Checkpoint(ctx)
			synced = l.totalBytes()
		case <-bytes.c:
			if now := l.totalBytes(); now-synced >= every.SyncBytes {
				err = l.Sync(ctx)
				synced = now
			} else {
				synced = min(synced, now) // retention takes bytes away
			}
		case <-retain.c:
			if _, err := l.Retain(ctx); err != nil {
				l.opts.Logger.Error("log: retention failed", "dir", l.dir, "error", err)
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (l *Log) totalBytes() int64 {
	var n int64
	for _, s := range l.set.Load().all() {
		n += s.Size()
	}
	return n
}

// ticker is a time.Ticker, or one that never ticks.
type ticker struct {
	c <-chan time.Time
	t *time.Ticker
}

func newTicker(every time.Duration) ticker {
	if every <= 0 {
		return ticker{}
	}
	t := time.NewTicker(every)
	return ticker{c: t.C, t: t}
}

func (t ticker) stop() {
	if t.t != nil {
		t.t.Stop()
	}
}
