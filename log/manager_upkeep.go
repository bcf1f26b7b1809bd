package log

import (
	"context"
	"errors"
	"time"
)

// Maintain does the upkeep of all logs, one after the other, as Log.Maintain
// does of one, and unlinks what was deleted. It is a loop for a goroutine of
// the caller's, and ends when ctx does, which is no error, or the Manager is
// closed, which is. What fails for a log is reported to the Logger and tried
// again; the others are maintained all the same.
func (m *Manager) Maintain(ctx context.Context, every Every) error {
	look := time.Duration(0)
	if every.SyncBytes > 0 {
		look = lookAtBytes
	}
	checkpoint, bytes, retain, unlink := newTicker(every.Sync), newTicker(look), newTicker(every.Retain), newTicker(m.opts.DeleteDelay)
	for _, t := range []ticker{checkpoint, bytes, retain, unlink} {
		defer t.stop()
	}
	synced := make(map[*Log]grown)
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
		case <-retain.c:
			err = m.retain(ctx)
		case <-unlink.c:
			err = m.unlinkDue()
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
			m.opts.Log.Logger.Error("log: upkeep failed", "dir", m.dir, "error", err)
		}
	}
}

// grown is what a log was when it was looked at: counting bytes takes time, and
// is of no use if the end has not moved.
type grown struct {
	end, bytes int64
}

// syncGrown syncs the logs to which that many bytes were appended, and returns
// what it saw of each.
func (m *Manager) syncGrown(ctx context.Context, seen map[*Log]grown, limit int64) (map[*Log]grown, error) {
	var errs []error
	now := make(map[*Log]grown, len(seen))
	for _, l := range m.Logs() {
		was, known := seen[l]
		end := l.End()
		if known && end == was.end {
			now[l] = was
			continue
		}
		bytes := l.totalBytes()
		switch {
		case !known:
			was.bytes = bytes
		case bytes < was.bytes: // retention takes bytes away
			was.bytes = bytes
		case bytes-was.bytes >= limit:
			errs = append(errs, l.Sync(ctx))
			was.bytes = bytes
		}
		now[l] = grown{end, was.bytes}
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

// unlinkDue unlinks what was deleted DeleteDelay ago.
func (m *Manager) unlinkDue() error {
	m.change.Lock()
	defer m.change.Unlock()
	if err := m.writable(); err != nil {
		return err
	}
	due := m.opts.Log.Env.Now().Add(-m.opts.DeleteDelay)
	return m.unlinkDeleted(func(p *Partition) bool { return !p.deleted.After(due) })
}
