package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
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
	l, err := open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	tellAll(l.opened())
	return l, nil
}

// open is Open that leaves the telling to the caller: see Log.opened.
func open(ctx context.Context, dir string, o Options) (*Log, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, opts: o, cfg: o.segmentConfig(dir), opening: true}
	l.settings.Store(&o)
	l.mu.txnsBehind = make(map[int64]bool)
	l.compaction.running = make(chan struct{}, 1)
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
	tell(l, o.Trace.Recovered, l.born)
	return l, nil
}

func (l *Log) openWritable(ctx context.Context) (err error) {
	if err := vfs.MkdirAll(l.cfg.FS, l.dir, 0o755); err != nil {
		return err
	}
	if l.lock, err = l.cfg.FS.Lock(filepath.Join(l.dir, LockName)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if set := l.set.Load(); set != nil {
				err = errors.Join(err, closeAll(set.all()))
			}
			err = errors.Join(err, l.lock.Close())
		}
	}()
	l.home = l.cfg.FS.Boot(l.dir)
	r, err := recovery.Inspect(ctx, l.cfg, recovery.Options{Repair: l.opts.Mode == Repair, Progress: l.scanned()})
	if err != nil {
		return err
	}
	if err := r.Err(); err != nil && l.opts.Mode != Repair {
		return fmt.Errorf("%w; open with log.Repair to cut it out", err)
	}
	if err := recovery.Apply(ctx, l.cfg, r); err != nil {
		return err
	}
	if r.Foreign {
		// Who made the directory may have been killed before its name was durable.
		sync := l.opts.syncParent
		if sync == nil {
			sync = func() error { return l.cfg.FS.SyncDir(filepath.Dir(l.dir)) }
		}
		if err := sync(); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	if err := l.start(r); err != nil {
		return err
	}
	if r.Dropping() {
		// The file may have been cut before the crash, and that not be durable:
		// what was cut must not come back behind a checkpoint that knows of no drop.
		if err := l.mu.active.Sync(); err != nil {
			return err
		}
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

// scanned tells Trace of what recovery verifies, if it asks.
func (l *Log) scanned() func(bytes int64) {
	told := l.opts.Trace.Scanned
	if told == nil {
		return nil
	}
	return func(bytes int64) { told(ScanEvent{Dir: l.dir, Bytes: bytes}) }
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
	if r.Owed {
		l.mu.newNames = true
	}
	if len(r.Damage) > 0 {
		l.mu.newNames = true // behind damage at the end a new segment begins
	}
	last := len(segments) - 1
	l.mu.active = segments[last]
	l.openedAt = segments[last].Base()
	l.mu.created = l.opts.Env.Now().UnixMilli()
	if l.mu.active.Owed() {
		l.commit.owed = l.mu.active
	}
	for _, s := range segments[:last] {
		if s.Next() > r.RecoveryPoint || r.Foreign || len(r.Damage) > 0 || sealedSince(r.Checkpoint, s.Base()) {
			l.mu.unsynced = append(l.mu.unsynced, s)
		}
	}
	l.compaction.begins(r)
	l.grown.end = r.End
	if err := l.startState(r, segments); err != nil {
		return errors.Join(err, closeAll(segments))
	}
	if r.Foreign || len(r.Damage) > 0 {
		return nil // no checkpoint describes these files; see mark
	}
	l.commit.durable = stillThere(r)
	if i, known := l.commit.find(l.mu.active.Base()); !known {
		l.commit.stale = true // of a roll, just before a crash: the next sync notes it
	} else { // its files are as long as they were allocated
		active := l.mu.active.Facts()
		l.commit.durable[i].IndexBytes, l.commit.durable[i].TimeBytes = active.IndexBytes, active.TimeBytes
	}
	// A cut that recovery brought to its end must leave the checkpoint before
	// anything is appended behind it, and what is appended from now on survives
	// the process.
	marked := !r.Checkpoint.Clean && !r.Checkpoint.Dropping && r.Checkpoint.Boot == l.cfg.FS.Boot(l.dir)
	l.commit.unnamed = marked && r.Owed
	l.marked.Store(marked && !r.Owed)
	return nil
}

func closeAll(segments []*segment.Segment) error {
	var errs []error
	for _, s := range segments {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// sealedSince says of a sealed segment that it was active when the checkpoint was
// written: then its files were cut and its indexes closed without a sync, be all
// of its batches durable.
func sealedSince(c *recovery.Checkpoint, base int64) bool {
	n := len(c.Segments)
	return n > 0 && c.Segments[n-1].Base == base
}

// startState takes in what was derived of the batches, and where a crash or
// another program left the files that say so otherwise, mends them.
func (l *Log) startState(r *recovery.Report, segments []*segment.Segment) error {
	s, n, derived, err := l.loadState(r, segments)
	if err != nil {
		return err
	}
	if l.commit.noted, l.commit.epochs = n, s.epochs; n.ended > 0 {
		l.commit.ended = r.Checkpoint.Ended
	}
	l.takeState(r, segments, s)
	if r.Clean && !derived { // but an epoch whose leader wrote nothing is given up
		l.keepEpochs(&l.mu.state)
		return nil
	}
	// One left beyond the end would be believed once the log has grown past it.
	if err := l.removeSnapshots(r.End); err != nil {
		return err
	}
	l.mendStateFiles(&l.mu.state, segments)
	return nil
}

// takeState publishes what a look at the files found.
func (l *Log) takeState(r *recovery.Report, segments []*segment.Segment, s state) {
	l.mu.state, l.mu.stateTorn = s, false
	l.atOnceLocked(func() {
		l.cuts.Add(1)
		l.end.Store(r.End)
		l.first.Store(r.LogStart) // before the set: see reader.seek
		l.set.Store(newSet(segments))
		opened := l.reached()
		l.noted.Store(&opened)
		l.durable.Store(r.RecoveryPoint)
		l.highWatermark.Store(r.HighWatermark)
		l.replicated.Store(l.opts.Mode == Follower)
		l.publishLocked()
	})
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

// openReadOnly opens beside a process that may be writing.
func (l *Log) openReadOnly(ctx context.Context) error {
	r, err := l.lookBeside(ctx)
	l.born = r
	return err
}

// lookBeside looks at files that another process may be changing, and adopts
// what it finds: one seen in the listing can be gone, or cut, a moment later, and
// then the look is made again.
func (l *Log) lookBeside(ctx context.Context) (r *recovery.Report, err error) {
	const tries = 10
	for try := range tries {
		if try > 1 {
			time.Sleep(time.Duration(try) * time.Millisecond)
		}
		l.commit.seen = l.statCheckpoint() // before it is read
		r, err = recovery.Inspect(ctx, l.cfg, recovery.Options{Progress: l.scanned()})
		if err == nil && len(r.Damage) > 0 && try == 0 && !r.Foreign && !r.Checkpoint.Clean {
			continue // what looks damaged in a file that was changed meanwhile is not
		}
		if err == nil {
			err = l.adopt(r)
		}
		if !changing(err) || ctx.Err() != nil {
			break
		}
		if _, err := l.cfg.FS.Stat(l.dir); err != nil {
			return nil, err
		}
	}
	if err == nil {
		l.commit.dropping = r.Dropping()
	}
	return r, err
}

// changedMeanwhile says whether an error of looking beside a process that
// writes is that it took away what was being looked at.
func changedMeanwhile(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, segment.ErrGone)
}

// changing says whether an error can be that, or that it cut what was being
// looked at.
func changing(err error) bool {
	return changedMeanwhile(err) || errors.Is(err, record.ErrCorrupt) || errors.Is(err, vfs.ErrFault) || errors.Is(err, io.ErrUnexpectedEOF)
}

// adopt makes what a look at the files found the present state of a log opened
// read-only. After an error that is what it was.
func (l *Log) adopt(r *recovery.Report) error {
	segments := make([]*segment.Segment, 0, len(r.Segments)+1)
	for i, s := range r.Segments {
		switch {
		case s.Swapped:
			segments = append(segments, segment.OpenSwapped(l.cfg, s.Facts))
		case i < len(r.Segments)-1:
			segments = append(segments, segment.OpenSealed(l.cfg, s.Facts))
		default:
			segments = append(segments, segment.OpenGrowing(l.cfg, s.Facts))
		}
		segments[i].SetLost(s.Lost)
	}
	if len(segments) == 0 {
		segments = append(segments, segment.OpenSealed(l.cfg, segment.Empty(r.End)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, _, _, err := l.loadState(r, segments)
	if err != nil {
		return errors.Join(err, closeAll(segments))
	}
	l.compaction.begins(r)
	l.grown.end = r.End
	l.takeState(r, segments, s)
	return nil
}
