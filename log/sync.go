package log

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/notify"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/segment"
)

// commit is the right to sync files, to write the checkpoint and to take
// segments out of the log. One goroutine holds it at a time; those who want to
// be durable wait for it together, and the first to get it syncs for all.
type commit struct {
	held    atomic.Bool
	freed   notify.Notifier
	waiting atomic.Int32
	// Who must have it takes a ticket and is served in turn; those who would
	// only lead a sync give way, or a stream of them could keep it for ever.
	tickets, served atomic.Int64

	// The rest is the holder's.

	// durable are the facts of what has been synced: all of each segment but
	// the last, which is as it was when it was last synced. Checkpoints are
	// made of it.
	durable []segment.Facts
	// stale says that durable does not describe all that is below Durable.
	stale bool
	// noted is the producer state that the next checkpoint refers to; superseded
	// are the offsets of the snapshot files that it makes useless.
	noted      noted
	epochs     epochs.History  // as of noted, or later
	ended      []producers.Txn // those of noted
	superseded []int64
	// synced are events to be told of when the holder lets go.
	synced []SyncEvent
	// unnamed says that the checkpoint need not be written before the first change, but
	// that its name may not be durable: see recovery.Report.Owed.
	unnamed bool
	// owed is the segment, or nil, whose indexes are to be synced before more of it
	// is noted: see segment.Segment.Owed.
	owed *segment.Segment
	// seen is the checkpoint file as of the last look at a log opened read-only;
	// dropping, that a DropFrom was under way.
	seen     fs.FileInfo
	dropping bool
}

// free says that nobody has it or has a ticket.
func (c *commit) free() bool { return !c.held.Load() && c.tickets.Load() == c.served.Load() }

// try takes it if it is free.
func (c *commit) try() bool { return c.free() && c.held.CompareAndSwap(false, true) }

func (c *commit) acquire() {
	mine := c.tickets.Add(1) - 1
	for c.served.Load() != mine || !c.held.CompareAndSwap(false, true) {
		_ = c.freed.Wait(context.Background(), func() bool { return c.served.Load() == mine && !c.held.Load() })
	}
	c.served.Add(1)
}

// release lets the next one have it, and tells of what was synced meanwhile.
func (l *Log) release() { l.tellSynced(l.giveUp()) }

// giveUp is release that leaves the telling to the caller, who holds something
// else yet.
func (l *Log) giveUp() []SyncEvent {
	c := &l.commit
	events := c.synced
	c.synced = nil
	c.held.Store(false)
	c.freed.Notify()
	return events
}

func (l *Log) tellSynced(events []SyncEvent) {
	for _, e := range events {
		tell(l, l.opts.Trace.Synced, e)
	}
}

// note replaces the durable facts from the first of those segments on.
func (c *commit) note(facts ...segment.Facts) {
	i, _ := c.find(facts[0].Base)
	c.durable = append(c.durable[:i], facts...)
}

// seal adds a seal to the facts of the segment based at base.
func (c *commit) seal(base int64, sum uint64) {
	if i, ok := c.find(base); ok {
		c.durable[i].Seal, c.durable[i].HasSeal = sum, true
	}
}

func (c *commit) find(base int64) (int, bool) {
	return slices.BinarySearchFunc(c.durable, base, func(f segment.Facts, base int64) int {
		return cmp.Compare(f.Base, base)
	})
}

// Sync makes everything appended before the call durable. After ErrFailed it is
// that, whatever was appended.
func (l *Log) Sync(ctx context.Context) error {
	if err := l.writable(); errors.Is(err, ErrFailed) {
		return err
	}
	return l.syncTo(ctx, l.End())
}

// syncTo returns when the records below offset are durable. Whoever finds no
// sync under way leads one, for everything appended until then; the others
// wait for it, and lead the next one if it came too early for them.
func (l *Log) syncTo(ctx context.Context, offset int64) error {
	c := &l.commit
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	for l.durable.Load() < offset {
		if err := l.writable(); err != nil {
			return err
		}
		if l.end.Load() < offset {
			return l.offsetError(offset, ErrBeyond) // dropped in the meantime
		}
		if c.try() {
			err := l.syncHeld()
			l.release()
			if err != nil {
				return err
			}
			continue
		}
		err := c.freed.Wait(ctx, func() bool { return l.durable.Load() >= offset || c.free() })
		if err != nil {
			return err
		}
	}
	return nil
}

// syncHeld syncs all that is appended now. The caller holds commit.
func (l *Log) syncHeld() error { return l.syncStateHeld(false) }

// syncStateHeld is syncHeld that makes the producer state durable with it, if
// asked to or if a checkpoint is due.
func (l *Log) syncStateHeld(withState bool) error {
	if l.commit.waiting.Load() > 1 {
		runtime.Gosched() // let those who are about to append join in; a yield alone wakes another thread for nothing
	}
	l.mu.Lock()
	if l.mu.failed != nil {
		defer l.mu.Unlock()
		return l.mu.failed
	}
	target, active, facts, sealed := l.end.Load(), l.mu.active, l.mu.active.Facts(), l.mu.unsynced
	var snap *snapshot
	if withState || len(sealed) > 0 {
		var err error
		if snap, err = l.snapshotLocked(target); err != nil {
			l.mu.Unlock()
			return err
		}
	}
	names := l.mu.newNames
	l.mu.newNames = false
	l.mu.Unlock()
	if target == l.durable.Load() && len(sealed) == 0 && !names && !l.commit.stale && (snap == nil || snap.noted == l.commit.noted) {
		return nil
	}

	began := time.Now()
	err := l.syncFiles(sealed, active, names)
	if err == nil {
		l.noteDurable(sealed, facts)
		if err = l.keep(snap); err == nil && len(sealed) > 0 {
			err = l.syncedPast(sealed)
		}
	}
	if err == nil {
		l.durable.Store(target)
	} else {
		l.leave(snap, names)
	}
	if l.opts.Trace.Synced != nil {
		l.commit.synced = append(l.commit.synced, SyncEvent{Durable: l.durable.Load(), Took: time.Since(began),
			Waiters: int(l.commit.waiting.Load()), Err: err})
	}
	return err
}

func (l *Log) syncFiles(sealed []*segment.Segment, active *segment.Segment, names bool) error {
	for _, s := range append(slices.Clone(sealed), active) {
		if err := s.Sync(); err != nil {
			return l.notSynced(err)
		}
	}
	if err := l.settleIndexes(); err != nil {
		return err
	}
	if names {
		return l.syncNames()
	}
	return nil
}

// settleIndexes syncs the indexes that an opening left to the next sync.
func (l *Log) settleIndexes() (err error) {
	s := l.commit.owed
	if s == nil {
		return nil
	}
	l.mu.Lock()
	active := s == l.mu.active
	if active {
		err = s.SyncIndexes() // a roll would close the files
	}
	l.mu.Unlock()
	if !active && l.set.Load().floor(s.Base(), nil) == s { // not dropped in the meantime
		err = s.SyncIndexes()
	}
	if err != nil {
		return l.notSynced(err)
	}
	l.commit.owed = nil
	return nil
}

// notSynced makes a failed sync final. That a file could not be opened for it
// is none.
func (l *Log) notSynced(err error) error {
	if errors.Is(err, segment.ErrNotSynced) {
		return l.fail(err)
	}
	return err
}

// syncNames makes the directory's names durable. A directory has to be opened
// for that, which a sync does not say of itself, so the lack of a descriptor is
// not final.
func (l *Log) syncNames() error {
	err := l.cfg.FS.SyncDir(l.dir)
	if failedSyncDir(err) {
		return l.fail(err)
	}
	return err
}

func (l *Log) syncNamesLocked() error {
	err := l.cfg.FS.SyncDir(l.dir)
	if failedSyncDir(err) {
		return l.failLocked(err)
	}
	return err
}

func failedSyncDir(err error) bool {
	return err != nil && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE)
}

// leave leaves what a sync that failed was to do to the next.
func (l *Log) leave(snap *snapshot, names bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.newNames = l.mu.newNames || names
	if snap != nil {
		l.mu.txnFiles = append(snap.txnFiles, l.mu.txnFiles...)
	}
}

func (l *Log) noteDurable(sealed []*segment.Segment, active segment.Facts) {
	l.commit.stale = false
	if len(sealed) == 0 {
		l.commit.note(active)
		return
	}
	facts := make([]segment.Facts, 0, len(sealed)+1)
	for _, s := range sealed {
		facts = append(facts, s.Facts())
	}
	l.commit.note(append(facts, active)...)
}

// syncedPast is what follows once sealed segments are durable: their files are
// let go, and the checkpoint says so, before anybody is told of it. That a sync
// past a segment's end always moves the recovery point is what lets recovery
// tell a tear from damage.
func (l *Log) syncedPast(sealed []*segment.Segment) error {
	for _, s := range sealed {
		if err := errors.Join(s.SyncIndexes(), s.CloseFile()); err != nil {
			return l.notSynced(err)
		}
	}
	if err := l.writeCheckpoint(l.first.Load(), l.commit.durable, false); err != nil {
		return err // for want of room, say: the next sync tries again
	}
	l.mu.Lock()
	l.mu.unsynced = slices.Clone(l.mu.unsynced[len(sealed):])
	l.mu.Unlock()
	return nil
}
