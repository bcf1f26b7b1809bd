package log

import (
	"context"
	"errors"
	"time"
)

// Maintain does the upkeep of all logs, one after the other, as Log.Maintain
// does of one, and unlinks what was deleted. It is a loop for a goroutine of
// the caller's, and ends when ctx does, which is no error, or the Manager is
// closed, which is. Of the logs that are worth compacting the one with the
// largest dirty ratio comes first. What fails for a log is reported to the Logger
// and tried again; the others are maintained all the same.
func (m *Manager) Maintain(ctx context.Context, every Every) error {
	loops := []func(context.Context) error{
		func(ctx context.Context) error { return m.maintainSync(ctx, every) },
		func(ctx context.Context) error { return m.maintainRetain(ctx, every.Retain) },
	}
	if every.Compact > 0 {
		loops = append(loops, func(ctx context.Context) error { return m.maintainCompact(ctx, every.Compact) })
	}
	return together(ctx, loops...)
}

func (m *Manager) maintainSync(ctx context.Context, every Every) error {
	checkpoint, bytes := newTicker(every.Sync), newTicker(0)
	if every.SyncBytes > 0 {
		bytes = newTicker(lookAtBytes)
	}
	defer checkpoint.stop()
	defer bytes.stop()
	synced := make(map[*Log]reached)
	for {
		if err := m.writable(); err != nil {
			return err
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-checkpoint.c:
			err = m.Checkpoint(ctx)
		case <-bytes.c:
			synced, err = m.syncGrown(ctx, synced, every.SyncBytes)
			bytes.again(err)
		}
		m.report(ctx, err)
	}
}

func (m *Manager) maintainRetain(ctx context.Context, every time.Duration) error {
	retain, unlink := newTicker(every), newTicker(m.unlinkEvery())
	defer retain.stop()
	defer unlink.stop()
	for {
		if err := m.writable(); err != nil {
			return err
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-retain.c:
			err = m.retain(ctx)
		case <-unlink.c:
			err = m.unlinkDue()
		}
		m.report(ctx, err)
	}
}

func (m *Manager) maintainCompact(ctx context.Context, every time.Duration) error {
	look := newTicker(every)
	defer look.stop()
	for {
		if err := m.writable(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.c:
			m.report(ctx, m.compactDue(ctx))
		}
	}
}

// report tells of upkeep that failed, unless it was to end.
func (m *Manager) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		m.opts.Log.Logger.Error("log: upkeep failed", "dir", m.dir, "error", err)
	}
}

// syncGrown syncs the logs to which that many bytes were appended, and returns
// what it saw of each.
func (m *Manager) syncGrown(ctx context.Context, seen map[*Log]reached, limit int64) (map[*Log]reached, error) {
	var errs []error
	now := make(map[*Log]reached, len(seen))
	for _, l := range m.Logs() {
		since, known := seen[l]
		if !known {
			since = l.reached()
		}
		var err error
		now[l], err = l.syncGrown(ctx, since, limit)
		if errors.Is(err, ErrFailed) {
			now[l] = l.reached() // nothing will be appended, and nothing more be said
		}
		if !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	return now, errors.Join(errs...)
}

func (m *Manager) retain(ctx context.Context) error {
	var errs []error
	for _, l := range m.Logs() {
		if _, err := l.Retain(ctx); err != nil && !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// unlinkEvery is how often Maintain looks for what is due to be unlinked: what
// stays for DeleteDelay stays for twice that at most.
func (m *Manager) unlinkEvery() time.Duration {
	if delay := m.opts.Log.DeleteDelay; delay > 0 {
		return delay
	}
	return time.Minute // Each may give one a delay, and unlinking may have failed
}

// unlinkDue unlinks what was dropped or deleted and whose time has come.
func (m *Manager) unlinkDue() error {
	var errs []error
	for _, l := range m.Logs() {
		errs = append(errs, l.unlinkDue())
	}
	m.change.Lock()
	defer m.changed()
	if err := m.writable(); err != nil {
		return err
	}
	return errors.Join(append(errs, m.unlinkDeleted(m.due))...)
}
