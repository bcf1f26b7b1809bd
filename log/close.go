package log

import (
	"errors"
)

// Close makes everything durable, notes that the log was closed cleanly, and
// gives up its files, memory and lock. Waiting readers get ErrClosed. Views
// that are still out stay good; they are reported to the Logger. A second Close
// is ErrClosed.
//
// After ErrFailed nothing more is written; the next Open recovers.
func (l *Log) Close() error {
	synced, err := l.close()
	l.tellSynced(synced)
	return err
}

// close is Close that leaves the telling to the caller.
func (l *Log) close() (synced []SyncEvent, err error) {
	l.closing.Lock()
	defer l.closing.Unlock()
	if l.closed.Load() {
		return nil, ErrClosed
	}
	l.compaction.stop()
	l.commit.acquire()
	err = l.closeHeld()
	return l.giveUp(), err
}

func (l *Log) closeHeld() error {
	l.mu.Lock()
	l.mu.closed = true
	l.closed.Store(true)
	failed := l.mu.failed != nil
	changed := l.marked.Load() || !l.born.Clean || l.mu.told || l.mu.active != nil && l.mu.active.Untidy()
	l.mu.Unlock()
	l.appended.Close(ErrClosed)

	var errs []error
	if l.opts.Mode != ReadOnly && !failed && changed {
		errs = append(errs, l.settleHeld())
	}
	l.graves.names.Lock() // waits for who is at it
	errs = append(errs, l.bury(nil, never), l.bury(nil, always))
	l.graves.names.Unlock()
	for _, s := range l.set.Load().all() {
		if n := s.PinsHeld(); n > 0 {
			l.opts.Logger.Warn("log: closed with views out; their memory stays mapped", "file", s.Path(), "views", n)
		}
		errs = append(errs, s.Close())
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
	}
	return errors.Join(errs...)
}

// settleHeld brings the files to their final state and vouches for them.
func (l *Log) settleHeld() error {
	active := l.mu.active // nobody changes it any more
	if err := active.Trim(); err != nil {
		return err
	}
	l.commit.stale = true // the trimmed file has a new size to sync
	if err := l.syncStateHeld(true); err != nil {
		return err
	}
	if err := active.SyncIndexes(); err != nil {
		return err
	}
	// The pages of what was sealed since Open are likely to be at hand.
	for _, f := range l.unsealed() {
		if f.Base < l.openedAt {
			continue
		}
		if sum, err := l.set.Load().floor(f.Base, nil).Sum(); err == nil {
			l.commit.seal(f.Base, sum)
		}
	}
	return l.writeCheckpoint(l.first.Load(), l.commit.durable, true)
}
