package log

import (
	"context"
	"errors"
	"fmt"

	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// Checkpoint makes everything appended before the call durable and notes it, so
// that after a crash only what comes later is verified. It also computes the
// seals that are missing, which reads whole segments; ctx may end that.
func (l *Log) Checkpoint(ctx context.Context) error {
	l.commit.acquire()
	err := l.checkpointHeld()
	pending := l.unsealed()
	l.release()
	if err != nil || len(pending) == 0 {
		return err
	}
	for _, f := range pending {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := l.hashSeal(f.Base); err != nil {
			return err
		}
	}
	l.commit.acquire()
	defer l.release()
	return l.checkpointHeld()
}

func (l *Log) checkpointHeld() error {
	if err := l.writable(); err != nil {
		return err
	}
	if err := l.syncStateHeld(true); err != nil {
		return err
	}
	return l.writeCheckpoint(l.first.Load(), l.commit.durable, false)
}

// unsealed lists the facts of durable sealed segments without a seal. The
// caller holds commit.
func (l *Log) unsealed() []segment.Facts {
	var list []segment.Facts
	for _, f := range l.commit.durable[:max(len(l.commit.durable)-1, 0)] {
		if !f.HasSeal {
			list = append(list, f)
		}
	}
	return list
}

// hashSeal computes the seal of a sealed segment, holding nothing while it
// reads.
func (l *Log) hashSeal(base int64) error {
	s := l.set.Load().floor(base, nil)
	if s == nil || s.Base() != base {
		return nil // dropped
	}
	sum, err := s.Sum()
	if err != nil {
		if errors.Is(err, segment.ErrGone) {
			return nil
		}
		return err
	}
	l.commit.acquire()
	defer l.release()
	if l.set.Load().floor(base, nil) == s { // not compacted in the meantime
		l.commit.seal(base, sum)
	}
	return nil
}

// writeCheckpoint notes that the log starts at logStart and that those facts
// are durable. The caller holds commit.
func (l *Log) writeCheckpoint(logStart int64, durable []segment.Facts, clean bool) error {
	return l.writeCheckpointOf(recovery.Checkpoint{
		Clean:         clean,
		HighWatermark: l.HighWatermark(),
		LogStart:      logStart,
		Segments:      durable,
	})
}

func (l *Log) writeCheckpointOf(c recovery.Checkpoint) error {
	c.RecoveryPoint, c.Cleaned, c.CleanedNoted = c.LogStart, l.compaction.cleaned(), l.compaction.noted()
	n := &l.commit.noted
	c.ProducersAt, c.Producers, c.Aborted = n.at, n.count, n.aborted
	led := n.at
	if c.Clean {
		led++ // whose leader has written nothing, too
	}
	c.Sums = &recovery.StateSums{Epochs: epochsSum(l.commit.epochs, c.LogStart, led), Snapshot: n.snapshot, Aborted: n.sum}
	if n.ended > 0 {
		c.Ended = l.commit.ended
	}
	if last := len(c.Segments) - 1; last >= 0 {
		c.RecoveryPoint = max(c.Segments[last].Next, c.LogStart)
	}
	c.Boot = l.cfg.FS.Boot(l.dir)
	if c.Boot != "" && l.home != "" && c.Boot != l.home {
		// Segments that were begun since are in the one, those before in the other.
		return fmt.Errorf("log: %s is not the directory that was opened: somebody has put another one in its place", l.dir)
	}
	if err := recovery.WriteCheckpoint(l.cfg.FS, l.dir, &c); err != nil {
		return err
	}
	l.marked.Store(!c.Clean)
	l.commit.unnamed = false
	if last := len(c.Segments) - 1; last >= 0 {
		l.noted.Store(&reached{c.Segments[last].Base, c.Segments[last].Size})
	}
	l.dropSuperseded()
	return nil
}

// mark sees to it that the checkpoint on disk does not claim a clean close
// before the first change, and describes files that another program wrote.
func (l *Log) mark() error {
	if l.marked.Load() {
		return nil
	}
	l.commit.acquire()
	defer l.release()
	if l.marked.Load() {
		return nil
	}
	if l.commit.unnamed {
		return l.nameHeld()
	}
	return l.checkpointHeld()
}

// nameHeld makes durable the name of a checkpoint that says all it should: without it
// a crash would leave a log that nothing is known of. The caller holds commit.
func (l *Log) nameHeld() error {
	if err := l.writable(); err != nil {
		return err
	}
	if err := l.syncNames(); err != nil {
		return err
	}
	l.commit.unnamed = false
	l.marked.Store(true)
	return nil
}
