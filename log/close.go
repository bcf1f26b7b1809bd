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
	l.compaction.stop()
	l.commit.acquire()
	defer l.release()
	l.mu.Lock()
	if l.mu.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	l.mu.closed = true
	failed := l.mu.failed != nil
	l.mu.Unlock()
	l.closed.Store(true)
	l.appended.Close(ErrClosed)

	var errs []error
	if l.opts.Mode != ReadOnly && !failed && (l.marked.Load() || !l.born.Clean) {
		errs = append(errs, l.settleHeld())
	}
	errs = append(errs, l.unlinkHeld(nil))
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
