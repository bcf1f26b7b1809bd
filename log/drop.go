package log

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// DropBefore drops the records below offset: First becomes offset, durably,
// and segments that end below it are removed. An offset up to First changes
// nothing; one above End is ErrBeyond. Records that share a segment with
// offset keep their disk space until all of it is dropped.
//
// If the error is one of unlinking, the records are dropped all the same, and
// unlinking is tried again by later drops.
func (l *Log) DropBefore(offset int64) error { return l.dropBefore(offset, "DropBefore") }

func (l *Log) dropBefore(offset int64, reason string) error {
	// On a full disk dropping is what makes room, and it marks the log itself.
	if err := l.mark(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	l.commit.acquire()
	event, err := l.dropBeforeHeld(offset)
	l.release()
	if len(event.Segments) > 0 {
		event.Reason = reason
		call(l.opts.Trace.Dropped, event)
	}
	return err
}

func (l *Log) dropBeforeHeld(offset int64) (e DropEvent, err error) {
	if err := l.writable(); err != nil {
		return e, err
	}
	if offset > l.End() {
		return e, l.offsetError(offset, ErrBeyond)
	}
	if offset = max(offset, l.First()); offset > l.durable.Load() {
		// The recovery point never passes what may yet be torn: see syncedPast.
		if err := l.syncHeld(); errors.Is(err, ErrFailed) || err != nil && !errors.Is(err, syscall.ENOSPC) {
			return e, err
		}
	}
	// At First there may be some that a crash kept from being unlinked.
	victims := l.endBelow(offset)
	if offset == l.First() && len(victims) == 0 {
		return e, l.unlinkHeld(nil)
	}
	kept := l.commit.durable
	for len(kept) > 0 && len(victims) > 0 && kept[0].Base <= victims[len(victims)-1].Base() {
		kept = kept[1:]
	}
	// The checkpoint first: a crash in between leaves files that are known to
	// be dropped, never a log that starts below what it had promised.
	first := offset
	l.noteDropped(victims)
	err = l.writeCheckpoint(offset, kept, false)
	full := errors.Is(err, syscall.ENOSPC) && len(victims) > 0
	if full {
		// Not even room for that. But recovery takes it as it finds it when the
		// oldest segments are missing, so these may go first.
		first = victims[len(victims)-1].Next()
	} else if err != nil {
		return e, err
	}
	l.commit.durable = kept
	l.first.Store(first)
	l.mu.Lock()
	if len(victims) > 0 {
		l.takeOutLocked(victims)
	}
	l.dropStateLocked(first)
	l.mu.Unlock()
	for _, s := range victims {
		e.Segments = append(e.Segments, l.info(s))
	}
	e.Err = l.unlinkHeld(victims)
	if full {
		if err := l.writeCheckpoint(offset, kept, false); err != nil {
			return e, errors.Join(e.Err, err)
		}
		l.first.Store(offset)
	}
	return e, e.Err
}

// endBelow lists the sealed segments whose records are all below offset.
func (l *Log) endBelow(offset int64) []*segment.Segment {
	all := l.set.Load().all()
	n := 0
	for n < len(all)-1 && all[n+1].Base() <= offset {
		n++
	}
	return all[:n]
}

// takeOutLocked publishes the set without some segments.
func (l *Log) takeOutLocked(victims []*segment.Segment) {
	gone := make(map[*segment.Segment]bool, len(victims))
	for _, s := range victims {
		gone[s] = true
	}
	var unsynced []*segment.Segment
	for _, s := range l.mu.unsynced {
		if !gone[s] {
			unsynced = append(unsynced, s)
		}
	}
	l.mu.unsynced = unsynced
	l.set.Store(l.set.Load().change(victims))
}

// unlinkHeld removes the files of segments taken out now or before, and keeps
// in mind those that it could not.
func (l *Log) unlinkHeld(victims []*segment.Segment) error {
	var errs []error
	pending := append(l.commit.undead, victims...)
	l.commit.undead = nil
	for _, s := range pending {
		if err := s.Remove(); err != nil {
			errs = append(errs, err)
			l.commit.undead = append(l.commit.undead, s)
		}
	}
	return errors.Join(errs...)
}

// DropFrom drops the records at and above offset, durably, and what is in the
// same batch as offset with it: batches are dropped whole. End becomes the start
// of the batch that holds offset or, where none does, the end of the one before
// (Kafka's truncateTo leaves a gap up to offset, which reopening forgets). An
// offset at or above End changes nothing; one below First is ErrTrimmed.
//
// Readers see the old records or the end, nothing in between; Views stay good.
func (l *Log) DropFrom(offset int64) error {
	if err := l.mark(); err != nil {
		return err
	}
	l.commit.acquire()
	event, err := l.dropFromHeld(offset)
	l.release()
	if len(event.Segments) > 0 {
		call(l.opts.Trace.Dropped, event)
	}
	return err
}

func (l *Log) dropFromHeld(offset int64) (e DropEvent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writableLocked(); err != nil {
		return e, err
	}
	switch {
	case offset < l.First():
		return e, l.offsetError(offset, ErrTrimmed)
	case offset >= l.End():
		return e, nil
	}
	set := l.set.Load()
	target := set.floor(offset, nil)
	f, err := target.FactsBelow(offset)
	if err != nil {
		return e, err
	}
	if f.Next < l.First() {
		f = segment.Empty(l.First()) // the batch began below the log start
	}
	var later []*segment.Segment
	for _, s := range set.all() {
		if s.Base() > target.Base() {
			later = append(later, s)
			e.Segments = append(e.Segments, l.info(s))
		}
	}
	e.Reason = "DropFrom"

	// First nothing that will be cut may be believed after a crash, and what was
	// begun must be brought to its end then.
	kept, _ := l.commit.find(target.Base())
	begun := recovery.Checkpoint{HighWatermark: l.HighWatermark(), LogStart: l.first.Load(), Segments: l.commit.durable[:kept],
		Dropping: true, DropFrom: f.Next}
	if err := l.writeCheckpointOf(begun); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return e, err // it was not written
		}
		return e, l.failLocked(err) // it may be the one that counts after a crash
	}
	l.forget(target.Base())
	l.end.Store(f.Next)
	l.durable.Store(min(l.durable.Load(), f.Next))
	l.takeOutLocked(later)
	err = l.cutLocked(target, later, f)
	if err == nil {
		err = l.cutStateLocked(f.Next)
	}
	if err == nil {
		err = l.writeCheckpoint(l.first.Load(), l.commit.durable, false)
	}
	if err != nil {
		return e, l.failLocked(err)
	}
	return e, nil
}

// forget drops a segment, and those behind it, from what is noted as durable.
func (l *Log) forget(base int64) {
	c := &l.commit
	n := len(c.durable)
	for n > 0 && c.durable[n-1].Base >= base {
		n--
	}
	c.durable, c.stale = c.durable[:n], true
}

// cutLocked removes the later segments, the newest first so that what is there
// is a prefix at any moment, cuts target to f and makes it active.
func (l *Log) cutLocked(target *segment.Segment, later []*segment.Segment, f segment.Facts) error {
	for i := len(later) - 1; i >= 0; i-- {
		if err := later[i].Remove(); err != nil {
			return err
		}
	}
	if err := l.removeSnapshots(f.Next); err != nil {
		return err
	}
	var next *segment.Segment
	var err error
	if f.Base == target.Base() {
		if err := target.TruncateTo(f); err != nil {
			return err
		}
		if next, err = segment.OpenActive(l.cfg, f, f.Size); err == nil {
			// Entries of what was cut must not come back among believed ones.
			err = next.SyncIndexes()
		}
	} else {
		if err := target.Remove(); err != nil {
			return err
		}
		next, err = segment.Create(l.cfg, f.Base)
	}
	if err != nil {
		return err
	}
	l.takeOutLocked([]*segment.Segment{target})
	l.set.Store(l.set.Load().change(nil, next))
	l.mu.active, l.mu.created = next, l.opts.Env.Now().UnixMilli()
	l.compaction.cutAt(next.Base())
	return l.cfg.FS.SyncDir(l.dir)
}

// removeSnapshots unlinks producer snapshots of offsets above end.
func (l *Log) removeSnapshots(end int64) error {
	entries, err := l.cfg.FS.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		base, suffix, ok := segment.ParseName(e.Name())
		if !ok || suffix != segment.SnapshotSuffix || base <= end {
			continue
		}
		if err := l.cfg.FS.Remove(filepath.Join(l.dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
