package log

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
)

// Close closes all logs, as Log.Close does, and notes for brokers how far they
// are durable and where they start. If all that went well, and no partition is
// in doubt, it leaves the mark of a clean shutdown. It unlinks what was deleted.
// A second Close is ErrClosed.
func (m *Manager) Close() error {
	m.change.Lock()
	defer m.changed()
	m.mu.Lock()
	if m.mu.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	m.mu.closed = true
	m.mu.Unlock()
	if m.opts.Log.Mode == ReadOnly {
		return m.closeLogs()
	}
	// The order is Kafka's: the mark comes last, for it vouches for the others.
	err := m.writeFiles(highWatermark)
	err = errors.Join(err, m.closeLogs())
	err = errors.Join(err, m.writeFiles(recoveryPoint, logStart, cleaned))
	if err == nil && !m.inDoubt() {
		err = vfs.WriteFile(m.opts.Log.Env.FS, filepath.Join(m.dir, kafkadir.CleanShutdownFile), []byte(kafkadir.CleanShutdown))
	}
	all := func(*Partition) bool { return true }
	return errors.Join(err, m.unlinkDeleted(all), m.unlock())
}

// inDoubt says whether a broker has to look at what is here: at logs that failed,
// to which Close writes nothing more, and at those that could not be opened,
// unless they were closed cleanly.
func (m *Manager) inDoubt() bool {
	return slices.ContainsFunc(m.Partitions(), func(p Partition) bool {
		return p.Err != nil && !m.found.Clean || p.Log != nil && p.Log.failed()
	})
}

// closeLogs closes the logs that are open, several at a time.
func (m *Manager) closeLogs() error {
	var open []*Log
	for _, p := range m.Partitions() {
		if p.Log != nil {
			open = append(open, p.Log)
		}
	}
	var mu sync.Mutex
	var errs []error
	parallel(context.Background(), m.opts.Parallel, open, func(l *Log) {
		if err := m.closeLog(l); err != nil && !errors.Is(err, ErrClosed) {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}
	})
	return errors.Join(errs...)
}
