package log

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	if !l.stateTorn() {
		if !l.commit.dropping && l.set.Load().newest().Lost() == nil { // when dropping, what is behind the end is about to be cut
			grown, err := l.extend(ctx)
			if changing(err) {
				return l.lookAnewHeld(ctx)
			}
			if grown || err != nil {
				return err
			}
		}
		changed, err := l.filesChanged()
		if !changed || err != nil {
			return err
		}
	}
	return l.lookAnewHeld(ctx)
}

// lookAnewHeld looks at all files and takes what it finds for the log's state.
func (l *Log) lookAnewHeld(ctx context.Context) error {
	old := l.set.Load().all()
	_, err := l.lookBeside(ctx)
	if changedMeanwhile(err) {
		return nil // the next Refresh sees it
	}
	if err != nil {
		return err
	}
	return closeAll(old)
}

// stateTorn says whether the last look took in batches in part.
func (l *Log) stateTorn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.stateTorn
}

// statCheckpoint tells which checkpoint there is, nil for none.
func (l *Log) statCheckpoint() fs.FileInfo {
	info, err := l.cfg.FS.Stat(l.checkpointPath())
	if err != nil {
		return nil
	}
	return info
}

// checkpointChanged says whether the writing process has replaced the checkpoint.
// It does whenever it cuts the log: what is appended then can make the file
// longer than it was, and nothing else shows that it is not the same.
func (l *Log) checkpointChanged() (bool, error) {
	now, err := l.cfg.FS.Stat(l.checkpointPath())
	if errors.Is(err, fs.ErrNotExist) {
		return l.commit.seen != nil, nil
	}
	if err != nil {
		return false, err
	}
	seen := l.commit.seen
	return seen == nil || !os.SameFile(seen, now) || !seen.ModTime().Equal(now.ModTime()) || seen.Size() != now.Size(), nil
}

func (l *Log) checkpointPath() string { return filepath.Join(l.dir, recovery.CheckpointName) }

// rereader is for who reads a log that another process writes, and meets
// damage: perhaps the log was cut, and written anew from there on.
type rereader struct {
	met   *DamageError // the last time
	times int          // in a row
}

// again says whether to look the offset up again: the files have changed, and
// were looked at anew. Damage that is there all the same in a log that goes on
// changing is believed in the end.
func (r *rereader) again(l *Log, err error) bool {
	return err != nil && l.opts.Mode == ReadOnly && r.reread(l, err)
}

func (r *rereader) reread(l *Log, err error) bool {
	const times = 10
	var d *DamageError
	if !errors.As(err, &d) {
		return false
	}
	if r.met == nil || r.met.Path != d.Path || r.met.Position != d.Position {
		r.times = 0
	}
	if r.times++; r.times > times {
		return false
	}
	r.met = d
	l.commit.acquire()
	defer l.release()
	if l.closed.Load() {
		return false
	}
	changed, err := l.filesChanged()
	return err == nil && changed && l.lookAnewHeld(context.Background()) == nil
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
	// Batches are taken in before they are seen: a reader of committed ones goes
	// by what is known of their transactions.
	file, fileErr := l.readEpochsOf(l.First(), after.Next)
	p := replay{epochs: watchEpochs(l.mu.state.epochs, file, fileErr == nil, before.Next, l.First())}
	if err := p.into(&l.mu.state, []*segment.Segment{grownTo}, before.Next, after.Next); err != nil {
		l.mu.stateTorn = true
		return false, errors.Join(err, grownTo.Close())
	}
	l.set.Store(l.set.Load().change([]*segment.Segment{newest}, grownTo))
	l.atOnceLocked(func() {
		l.end.Store(after.Next)
		l.publishLocked()
	})
	return true, newest.Close()
}

// filesChanged says whether the writing process has done something since the last
// look that is not an append.
func (l *Log) filesChanged() (bool, error) {
	changed, err := l.namesChanged()
	if changed || err != nil {
		return changed, err
	}
	return l.checkpointChanged()
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
	for _, s := range set.all() {
		if s.Absent() {
			n++
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
