package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// LockName is the file whose lock the writing process holds.
const LockName = "seglog.lock"

// Open opens the log in dir, which is created if need be (not by ReadOnly).
//
// It recovers what a crash left: see package recovery, and Recovery for what
// was done. Damage is a *DamageError unless the Mode is ReadOnly or Repair; a
// log in a message format before Kafka 0.11 is record.ErrUnsupportedMagic; one
// that another process writes is ErrLocked. A done ctx stops the scan; calling
// again goes on.
func Open(ctx context.Context, dir string, o Options) (*Log, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, opts: o, cfg: o.segmentConfig(dir)}
	l.builders.New = l.newBuilder
	if o.Mode == ReadOnly {
		err = l.openReadOnly(ctx)
	} else {
		err = l.openWritable(ctx)
	}
	if err != nil {
		return nil, err
	}
	o.Logger.Info("log: opened", "recovery", l.born)
	call(o.Trace.Recovered, l.born)
	return l, nil
}

func (l *Log) openWritable(ctx context.Context) (err error) {
	if err := l.cfg.FS.MkdirAll(l.dir, 0o755); err != nil {
		return err
	}
	if l.lock, err = l.cfg.FS.Lock(filepath.Join(l.dir, LockName)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if set := l.set.Load(); set != nil {
				for _, s := range set.all() {
					err = errors.Join(err, s.Close())
				}
			}
			err = errors.Join(err, l.lock.Close())
		}
	}()
	r, err := recovery.Inspect(ctx, l.cfg, recovery.Options{Repair: l.opts.Mode == Repair})
	if err != nil {
		return err
	}
	if err := r.Err(); err != nil && l.opts.Mode != Repair {
		return fmt.Errorf("%w; open with log.Repair to cut it out", err)
	}
	if err := recovery.Apply(ctx, l.cfg, r); err != nil {
		return err
	}
	if err := l.start(r); err != nil {
		return err
	}
	if len(r.Damage) > 0 {
		err = l.Checkpoint(ctx) // or the next open would find the same damage
	}
	if hw := l.HighWatermark(); err == nil && hw < l.End() && l.LeaderEpoch() < 0 {
		// Without epochs to compare with the leader's, a follower's records are
		// only sure up to where all replicas had them.
		err = l.DropFrom(hw)
	}
	return err
}

// start makes the log from what recovery found.
func (l *Log) start(r *recovery.Report) error {
	l.born = r
	segments := make([]*segment.Segment, 0, len(r.Segments)+1)
	for i, s := range r.Segments {
		if i < len(r.Segments)-1 {
			segments = append(segments, segment.OpenSealed(l.cfg, s.Facts))
			continue
		}
		active, err := segment.OpenActive(l.cfg, s.Facts, s.Trusted)
		if err != nil {
			return err
		}
		segments = append(segments, active)
	}
	if len(segments) == 0 {
		active, err := segment.Create(l.cfg, r.End)
		if err != nil {
			return err
		}
		segments = append(segments, active)
		l.mu.newNames = true
	}
	last := len(segments) - 1
	l.set.Store(newSet(segments))
	l.mu.active = segments[last]
	l.openedAt = segments[last].Base()
	l.mu.created = l.opts.Env.Now().UnixMilli()
	l.first.Store(r.LogStart)
	l.end.Store(r.End)
	l.durable.Store(r.RecoveryPoint)
	for _, s := range segments[:last] {
		if s.Next() > r.RecoveryPoint || r.Foreign || len(r.Damage) > 0 {
			l.mu.unsynced = append(l.mu.unsynced, s)
		}
	}
	if err := l.startState(r, segments); err != nil {
		return err
	}
	if r.Foreign || len(r.Damage) > 0 {
		return nil // no checkpoint describes these files; see mark
	}
	l.commit.noted = noted{at: r.Checkpoint.ProducersAt, count: r.Checkpoint.Producers, aborted: r.Checkpoint.Aborted}
	l.commit.durable = stillThere(r)
	// A cut that recovery brought to its end must leave the checkpoint before
	// anything is appended behind it.
	l.marked.Store(!r.Checkpoint.Clean && !r.Checkpoint.Dropping)
	return nil
}

// startState derives what is known of the batches, and where a crash or another
// program left the files that say so otherwise, mends them.
func (l *Log) startState(r *recovery.Report, segments []*segment.Segment) error {
	s, err := l.loadState(r, segments)
	if err != nil && l.opts.Mode != ReadOnly { // beside a writer files may go as we look
		return err
	}
	l.mu.state = s
	l.epoch.Store(s.latestEpoch())
	l.highWatermark.Store(r.HighWatermark)
	l.replicated.Store(l.opts.Mode == Follower)
	l.publishLocked()
	if l.opts.Mode == ReadOnly {
		return nil
	}
	if r.Clean { // but an epoch whose leader wrote nothing is given up
		l.keepEpochs(&l.mu.state)
		return nil
	}
	if err := l.removeSnapshots(r.End); err != nil {
		l.opts.Logger.Warn("log: a producer snapshot beyond the end could not be removed", "dir", l.dir, "error", err)
	}
	l.writeStateFiles(&l.mu.state, segments)
	return nil
}

// stillThere is the facts of the checkpoint as far as they hold now.
func stillThere(r *recovery.Report) []segment.Facts {
	var facts []segment.Facts
	for _, f := range r.Checkpoint.Segments {
		i, ok := slices.BinarySearchFunc(r.Segments, f.Base, func(s recovery.Segment, base int64) int {
			return cmp.Compare(s.Base, base)
		})
		if ok && r.Segments[i].Size == f.Size {
			f = r.Segments[i].Facts
		}
		if ok {
			facts = append(facts, f)
		}
	}
	facts = append(facts, replaced(r)...)
	slices.SortFunc(facts, func(a, b segment.Facts) int { return cmp.Compare(a.Base, b.Base) })
	return facts
}

// openReadOnly opens beside a process that may be writing: a file seen in the
// listing can be gone a moment later, and then the listing is made again.
func (l *Log) openReadOnly(ctx context.Context) error {
	const tries = 10
	for try := 1; ; try++ {
		r, err := recovery.Inspect(ctx, l.cfg, recovery.Options{})
		if errors.Is(err, fs.ErrNotExist) && try < tries {
			if _, err := l.cfg.FS.Stat(l.dir); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		l.born = r
		return l.adopt(r)
	}
}

// adopt makes what a look at the files found the present state of a log opened
// read-only.
func (l *Log) adopt(r *recovery.Report) error {
	segments := make([]*segment.Segment, 0, len(r.Segments)+1)
	for i, s := range r.Segments {
		if i < len(r.Segments)-1 {
			segments = append(segments, segment.OpenSealed(l.cfg, s.Facts))
		} else {
			segments = append(segments, segment.OpenGrowing(l.cfg, s.Facts))
		}
	}
	if len(segments) == 0 {
		segments = append(segments, segment.OpenSealed(l.cfg, segment.Empty(r.End)))
	}
	l.set.Store(newSet(segments))
	l.first.Store(r.LogStart)
	l.durable.Store(r.RecoveryPoint)
	l.end.Store(r.End)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.startState(r, segments)
}
