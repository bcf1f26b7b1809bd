package log

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/internal/invariants"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// DropBefore drops the records below offset: First becomes offset, durably,
// and segments that end below it are removed. An offset up to First changes
// nothing; one above the high watermark is ErrBeyond. Records that share a
// segment with offset keep their disk space until all of it is dropped.
//
// If the error is one of unlinking, the records are dropped all the same, and
// unlinking is tried again by later drops. On a disk so full that segments have to
// go before that can be noted, and that stays full, First is where they ended, and
// the same call may be made again.
func (l *Log) DropBefore(offset int64) error {
	_, err := l.dropIf(func() bool { return true }, offset, "DropBefore")
	return err
}

// errOvertaken says that what a drop was decided by does not hold any more.
var errOvertaken = errors.New("log: overtaken by another drop")

// dropIf drops what is below offset if, with commit held, still is true, and
// tells the segments that went.
func (l *Log) dropIf(still func() bool, offset int64, reason string) ([]SegmentInfo, error) {
	// On a full disk dropping is what makes room, and it marks the log itself.
	if err := l.mark(); err != nil && !vfs.IsFull(err) {
		return nil, err
	}
	l.commit.acquire()
	if !still() {
		l.release()
		return nil, errOvertaken
	}
	victims, removed, err := l.dropBeforeHeld(offset)
	// The names may come again, so nobody may come in between; but whoever only
	// wants to sync need not wait for what is unlinked.
	l.graves.names.RLock()
	synced := l.giveUp()
	invariants.Pause("segments taken out")
	if err == nil && !removed {
		err = l.bury(victims, never)
	}
	l.graves.names.RUnlock()
	l.tellSynced(synced)
	if len(victims) == 0 {
		return nil, err
	}
	event := DropEvent{Reason: reason, Err: err}
	for _, s := range victims {
		event.Segments = append(event.Segments, l.info(s))
	}
	tell(l, l.opts.Trace.Dropped, event)
	return event.Segments, err
}

// dropBeforeHeld returns the segments that it took out, whose files are still to
// be removed unless it had to make room.
func (l *Log) dropBeforeHeld(offset int64) (victims []*segment.Segment, removed bool, err error) {
	if err := l.writable(); err != nil {
		return nil, false, err
	}
	if hw := l.HighWatermark(); offset > hw {
		return nil, false, &OffsetError{Offset: offset, First: l.First(), End: hw, Err: ErrBeyond}
	}
	if offset = max(offset, l.First()); offset > l.durable.Load() {
		// The recovery point never passes what may yet be torn: see syncedPast.
		if err := l.syncHeld(); errors.Is(err, ErrFailed) || err != nil && !vfs.IsFull(err) {
			return nil, false, err
		}
	}
	// At First there may be some that a crash kept from being unlinked.
	victims = l.endBelow(offset)
	if offset == l.First() && len(victims) == 0 {
		return nil, false, nil
	}
	if err := l.keepProducersOf(victims); err != nil {
		return nil, false, err
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
	full := vfs.IsFull(err) && len(victims) > 0
	if full {
		// Not even room for that. But recovery takes it as it finds it when the
		// oldest segments are missing, so these may go first.
		first = victims[len(victims)-1].Next()
	} else if err != nil {
		return nil, false, err
	}
	l.commit.durable = kept
	l.mu.Lock()
	l.durable.Store(max(l.durable.Load(), first)) // what was not yet is dropped
	l.first.Store(first)                          // before the set: see reader.seek
	invariants.Pause("First raised")
	if len(victims) > 0 {
		l.swapLocked(victims)
	}
	l.dropStateLocked(first)
	l.mu.Unlock()
	if !full {
		return victims, false, nil
	}
	l.graves.names.RLock()
	defer l.graves.names.RUnlock()
	err = l.makeRoom(victims)
	if errors.Is(err, ErrFailed) {
		return victims, true, err
	}
	if noteErr := l.writeCheckpoint(offset, kept, false); noteErr != nil {
		return victims, true, errors.Join(err, noteErr)
	}
	l.mu.Lock()
	l.durable.Store(max(l.durable.Load(), offset))
	l.first.Store(offset)
	l.dropStateLocked(offset)
	l.mu.Unlock()
	return victims, true, err
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

// swapLocked publishes the set with some segments in the place of others, at
// once: a set without them would have readers pass over what is in both.
func (l *Log) swapLocked(old []*segment.Segment, next ...*segment.Segment) {
	gone := make(map[*segment.Segment]bool, len(old))
	for _, s := range old {
		gone[s] = true
	}
	var unsynced []*segment.Segment
	for _, s := range l.mu.unsynced {
		if !gone[s] {
			unsynced = append(unsynced, s)
		}
	}
	l.mu.unsynced = unsynced
	l.set.Store(l.set.Load().change(old, next...))
}

// DropFrom drops the records at and above offset, durably, and what is in the
// same batch as offset with it: batches are dropped whole. End becomes the start
// of the batch that holds offset or, where none does, the end of the one before
// (Kafka's truncateTo leaves a gap up to offset, which reopening forgets). An
// offset at or above End changes nothing; one below First is ErrTrimmed.
//
// Readers see the old records or the end, nothing in between; Views stay good.
// If it fails nothing has changed or End has: where files were being cut it is
// ErrFailed, and else the same call may be made again.
func (l *Log) DropFrom(offset int64) error {
	if err := l.mark(); err != nil {
		return err
	}
	var event DropEvent
	err := l.cutting(offset, false, func() (err error) {
		l.commit.acquire()
		defer l.release()
		event, err = l.dropFromHeld(offset)
		return err
	})
	if len(event.Segments) > 0 {
		tell(l, l.opts.Trace.Dropped, event)
	}
	return err
}

// cutting does a cut, in a Manager with what that has noted put right before.
func (l *Log) cutting(to int64, all bool, cut func() error) error {
	if l.opts.cutting == nil || l.opening {
		return cut()
	}
	return l.opts.cutting(l, to, all, cut)
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
	// A part that cannot be read shows before anything has changed.
	state, err := l.stateAsOf(f.Next)
	if err != nil {
		return e, err
	}

	// First nothing that will be cut may be believed after a crash, and what was
	// begun must be brought to its end then.
	l.compaction.cutAt(target.Base())
	begun := recovery.Checkpoint{HighWatermark: l.HighWatermark(), LogStart: l.first.Load(), Segments: l.durableBelow(target.Base(), f),
		Dropping: true, DropFrom: f.Next}
	if err := l.beginDropLocked(begun); err != nil {
		return e, err
	}
	l.forget(target.Base())
	l.publishCutLocked(f.Next, state)
	invariants.Pause("cut published")
	var later []*segment.Segment
	for s := set.after(target.Base()); s != nil; s = set.after(s.Base()) {
		later = append(later, s)
		e.Segments = append(e.Segments, l.info(s))
	}
	e.Reason = "DropFrom"
	l.swapLocked(later)
	if err := l.cutLocked(target, later, f); err != nil {
		return e, err
	}
	l.mendStateFiles(&l.mu.state, l.set.Load().all())
	if err := l.cutDurableLocked(); err != nil {
		return e, err
	}
	if len(l.mu.unsynced) == 0 && len(l.commit.durable) == l.set.Load().len()-1 {
		// All that is left is durable: the cut has synced its segment. Durable says
		// so with the next sync: a cut takes place at one moment, which is over.
		l.commit.note(l.mu.active.Facts())
		l.commit.stale = false
	}
	return e, l.forgetDropLocked()
}

// beginDropLocked writes the checkpoint by which recovery brings a cut to its
// end. If it fails nothing has happened, unless it may be the one that counts
// after a crash.
func (l *Log) beginDropLocked(c recovery.Checkpoint) error {
	err := l.writeCheckpointOf(c)
	if errors.Is(err, vfs.ErrUnsettled) {
		return l.failLocked(err)
	}
	return err
}

// endDropLocked makes a DropAll durable, and takes it out of the checkpoint. If
// that fails the log goes on, but nothing may change before it is done: recovery
// would cut what came behind.
func (l *Log) endDropLocked() error {
	if err := l.cutDurableLocked(); err != nil {
		return err
	}
	if err := l.ofDropLocked(l.mendEpochsLocked()); err != nil {
		return err
	}
	return l.forgetDropLocked()
}

func (l *Log) cutDurableLocked() error { return l.ofDropLocked(l.syncNamesLocked()) }

func (l *Log) forgetDropLocked() error {
	return l.ofDropLocked(l.writeCheckpoint(l.first.Load(), l.commit.durable, false))
}

// ofDropLocked sees to it that what failed at the end of a cut is done before the
// next change.
func (l *Log) ofDropLocked(err error) error {
	if err != nil {
		l.mu.newNames = true
		l.marked.Store(false)
	}
	return err
}

// publishCutLocked makes end the log's end. From then on no reader returns what
// lies above, though it is still there: see horizon.
func (l *Log) publishCutLocked(end int64, s state) {
	l.commit.noted, l.commit.superseded = noted{}, nil
	l.mu.state = s
	l.atOnceLocked(func() {
		l.cuts.Add(1)
		l.end.Store(end)
		l.durable.Store(min(l.durable.Load(), end))
		l.highWatermark.Store(min(l.highWatermark.Load(), end))
		l.publishLocked()
	})
}

// durableBelow is what is noted as durable, without what is cut where the log is
// to end with the segment based at target as f says. That this one is among it,
// if it was, be it as an empty one, tells recovery that a gap before it is none
// to end the log at: compaction left it.
func (l *Log) durableBelow(target int64, f segment.Facts) []segment.Facts {
	i, found := l.commit.find(target)
	kept := slices.Clone(l.commit.durable[:i])
	if found {
		kept = append(kept, segment.Empty(f.Base))
	}
	return kept
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

// cutLocked removes the later segments, cuts target to f and makes it active. If
// it fails the log has failed: what is left of it can be read, and recovery
// brings the cut to its end.
func (l *Log) cutLocked(target *segment.Segment, later []*segment.Segment, f segment.Facts) error {
	next, err := l.cutFiles(target, later, f)
	if err != nil {
		if f.Base == target.Base() {
			f.FirstTime, f.MaxTime = target.FirstTime(), target.MaxTime() // or lookups by time would pass over it
		}
		next, err = l.standIn(f, append(later, target)), l.failLocked(err)
	}
	l.swapLocked([]*segment.Segment{target}, next)
	l.mu.active, l.mu.created = next, l.opts.Env.Now().UnixMilli()
	return err
}

// cutFiles removes the newest first, so that what is there is a prefix at any
// moment.
func (l *Log) cutFiles(target *segment.Segment, later []*segment.Segment, f segment.Facts) (next *segment.Segment, err error) {
	for _, s := range slices.Backward(later) {
		if err := s.Remove(); err != nil {
			return nil, err
		}
	}
	if err := l.removeSnapshots(f.Next); err != nil {
		return nil, err
	}
	if f.Base != target.Base() {
		if err := target.Remove(); err != nil {
			return nil, err
		}
		return segment.Create(l.configFor(0), f.Base)
	}
	if err := target.TruncateTo(f); err != nil {
		return nil, err
	}
	if next, err = segment.OpenActive(l.cfg, f, f.Size); err != nil || !next.Owed() {
		return next, err
	}
	if err := next.SyncIndexes(); err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// standIn is what can be read of segments whose files could not be cut.
func (l *Log) standIn(f segment.Facts, cut []*segment.Segment) *segment.Segment {
	for _, s := range cut {
		_ = s.Close() // some are
	}
	return segment.OpenSealed(l.cfg, f)
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
