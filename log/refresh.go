package log

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// Refresh makes a log opened ReadOnly see what the process that writes it has
// appended and dropped since. Of a log that is open for writing it is a no-op.
// A goroutine that calls it while another does waits for that one's.
func (l *Log) Refresh(ctx context.Context) error {
	if l.opts.Mode != ReadOnly {
		return nil
	}
	l.commit.acquire()
	defer l.release()
	if l.closed.Load() {
		return ErrClosed
	}
	grown, err := l.extend(ctx)
	if grown || err != nil {
		return err
	}
	changed, err := l.namesChanged()
	if !changed || err != nil {
		return err
	}
	r, err := recovery.Inspect(ctx, l.cfg, recovery.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // changing as we look: the next Refresh sees it
	}
	if err != nil {
		return err
	}
	old := l.set.Load().all()
	err = l.adopt(r)
	for _, s := range old {
		err = errors.Join(err, s.Close())
	}
	return err
}

// extend takes in batches that were added to the newest segment.
func (l *Log) extend(ctx context.Context) (grown bool, err error) {
	newest := l.set.Load().newest()
	before := newest.Facts()
	after, err := recovery.Extend(ctx, l.cfg, before)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || after.Size == before.Size {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	grownTo := segment.OpenGrowing(l.cfg, after)
	l.set.Store(l.set.Load().change([]*segment.Segment{newest}, grownTo))
	l.end.Store(after.Next)
	if err := l.mu.state.replay([]*segment.Segment{grownTo}, before.Next, after.Next); err != nil {
		return true, err
	}
	l.publishLocked()
	return true, newest.Close()
}

// namesChanged says whether the directory has other segments than the set, or
// one of them was replaced or cut.
func (l *Log) namesChanged() (bool, error) {
	entries, err := l.cfg.FS.ReadDir(l.dir)
	if err != nil {
		return false, err
	}
	set, n := l.set.Load(), 0
	for _, e := range entries {
		base, suffix, ok := segment.ParseName(e.Name())
		if !ok || suffix != segment.LogSuffix {
			continue
		}
		n++
		s := set.floor(base, nil)
		if s == nil || s.Base() != base {
			return true, nil
		}
		if info, err := e.Info(); err == nil && s != set.newest() && info.Size() != s.Size() {
			return true, nil // compacted
		}
	}
	if n != set.len() {
		return true, nil
	}
	newest := set.newest()
	info, err := l.cfg.FS.Stat(newest.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return n > 0, nil
	}
	return err == nil && info.Size() < newest.Size(), err
}

// pollPast waits for a read-only log to reach beyond an offset. The appender is
// another process and stores to memory, of which no system tells: so it looks.
func (l *Log) pollPast(ctx context.Context, level Isolation) func(next, want int64) error {
	const first, last = 2 * time.Millisecond, 100 * time.Millisecond
	return func(next, want int64) error {
		for pause := first; ; pause = min(2*pause, last) {
			if err := l.Refresh(ctx); err != nil {
				return err
			}
			if l.bound(level) >= want || l.End() < next {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pause):
			}
		}
	}
}
