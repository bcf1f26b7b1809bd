package log

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Every says how often Maintain does what; zero is never.
type Every struct {
	Sync      time.Duration // make what was appended durable, and note it
	SyncBytes int64         // make it durable once that many bytes were appended, and note it once those are 16 MiB
	Retain    time.Duration // drop what Options.Retention lets go
	Compact   time.Duration // compact, if it is worth it by Options.Compaction: see Dirty
}

// noteBytes is how much more SyncBytes makes durable before that is noted: a note,
// which is three syncs, is little beside it, and to verify it at the next open takes
// some milliseconds.
const noteBytes = 16 << 20

// lookAtBytes is how often Maintain looks whether SyncBytes were appended. To
// be woken instead would cost every append a wake-up.
const lookAtBytes = 5 * time.Millisecond

// tryAgainAfter is how long Maintain leaves SyncBytes alone after a sync that
// failed.
const tryAgainAfter = time.Second

// Maintain does the log's upkeep until ctx ends, which is no error, or the log
// is closed or fails, which is ErrClosed or ErrFailed. It is a loop for a goroutine
// of the caller's; retention and compaction, which take their time and should not
// keep each other or a sync from it, are done in goroutines of their own, which
// have ended when it returns. What fails while the log does not, for want of room
// or descriptors, is reported to the Logger and tried again: a checkpoint or a sync
// as well.
func (l *Log) Maintain(ctx context.Context, every Every) error {
	if every.Compact > 0 && l.settings.Load().Compaction == nil {
		return ErrNotCompacted
	}
	loops := []func(context.Context) error{func(ctx context.Context) error { return l.maintainSync(ctx, every) }}
	if every.Retain > 0 || l.settings.Load().DeleteDelay > 0 {
		loops = append(loops, func(ctx context.Context) error { return l.maintainRetain(ctx, every.Retain) })
	}
	if every.Compact > 0 {
		loops = append(loops, func(ctx context.Context) error { return l.maintainCompact(ctx, every.Compact) })
	}
	return together(ctx, loops...)
}

func (l *Log) maintainSync(ctx context.Context, every Every) error {
	checkpoint, bytes := newTicker(every.Sync), newTicker(0)
	if every.SyncBytes > 0 {
		bytes = newTicker(lookAtBytes)
	}
	defer checkpoint.stop()
	defer bytes.stop()
	synced := l.reached()
	for {
		err := l.writable()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-checkpoint.c:
			now := l.reached()
			if err = l.Checkpoint(ctx); err == nil {
				synced = now
			}
		case <-bytes.c:
			synced, err = l.syncGrown(ctx, synced, every.SyncBytes)
			bytes.again(err)
		}
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, ErrFailed), errors.Is(err, ErrClosed):
			return err
		default:
			l.opts.Logger.Error("log: a sync failed", "dir", l.dir, "error", err)
		}
	}
}

func (l *Log) maintainRetain(ctx context.Context, every time.Duration) error {
	retain, unlink := newTicker(every), newTicker(l.settings.Load().DeleteDelay)
	defer retain.stop()
	defer unlink.stop()
	for {
		err := l.writable()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-retain.c:
			_, err = l.Retain(ctx)
		case <-unlink.c:
			err = l.unlinkDue()
		}
		if err != nil && ctx.Err() == nil {
			l.opts.Logger.Error("log: retention failed", "dir", l.dir, "error", err)
		}
	}
}

func (l *Log) maintainCompact(ctx context.Context, every time.Duration) error {
	look := newTicker(every)
	defer look.stop()
	for {
		if err := l.writable(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.c:
			plan, err := l.Dirty()
			if plan.Due {
				_, err = l.Compact(ctx)
			}
			if err != nil && ctx.Err() == nil {
				l.opts.Logger.Error("log: compaction failed", "dir", l.dir, "error", err)
			}
		}
	}
}

// together runs loops until all of them have ended, which an error of one makes
// the others do, and returns the first error.
func together(ctx context.Context, loops ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	run := func(loop func(context.Context) error) {
		if err := loop(ctx); err != nil {
			once.Do(func() { first = err })
			stop()
		}
	}
	for _, loop := range loops[1:] {
		wg.Go(func() { run(loop) })
	}
	run(loops[0])
	wg.Wait()
	return first
}

// reached is a place at the end of a log: its newest segment, and what that held.
type reached struct{ base, size int64 }

func (l *Log) reached() reached {
	s := l.set.Load().newest()
	return reached{s.Base(), s.Size()}
}

// appendedSince is the bytes appended since then; more, if the log was cut.
func (l *Log) appendedSince(r reached) (bytes int64) {
	set := l.set.Load()
	for s := set.newest(); s != nil; s = set.floor(s.Base()-1, nil) {
		if s.Base() <= r.base {
			if s.Base() == r.base && s.Size() >= r.size {
				bytes += s.Size() - r.size
			} else if bytes == 0 {
				bytes = s.Size()
			}
			break
		}
		bytes += s.Size()
	}
	return bytes
}

// syncGrown syncs a log to which that many bytes were appended since then, notes
// what is durable if that is worth it, and returns what the next look should take for
// then: what it was, if the sync failed.
func (l *Log) syncGrown(ctx context.Context, since reached, limit int64) (reached, error) {
	now := l.reached()
	if l.Durable() < l.End() { // else somebody else did
		if l.appendedSince(since) < limit {
			return since, nil
		}
		if err := l.Sync(ctx); err != nil {
			return since, err
		}
	}
	if l.appendedSince(*l.noted.Load()) < noteBytes {
		return now, nil
	}
	return now, l.Checkpoint(ctx)
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

// again slows down a ticker of looks at SyncBytes after an error.
func (t ticker) again(err error) {
	if err != nil {
		t.t.Reset(tryAgainAfter)
	} else {
		t.t.Reset(lookAtBytes)
	}
}

func (t ticker) stop() {
	if t.t != nil {
		t.t.Stop()
	}
}
