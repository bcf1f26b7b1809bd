package log

import (
	"context"
	"errors"
	"io/fs"
	"maps"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
)

// checkpoints are the offsets that a broker keeps of all partitions in four
// files.
type checkpoints [4]kafkadir.Offsets

const (
	highWatermark = iota
	recoveryPoint
	logStart
	cleaned
)

var checkpointFiles = [...]string{
	highWatermark: kafkadir.HighWatermarkFile,
	recoveryPoint: kafkadir.RecoveryPointFile,
	logStart:      kafkadir.LogStartFile,
	cleaned:       kafkadir.CleanerFile,
}

// readCheckpoints reads the four. A file that is not one has no entries, and a
// note says so; that one cannot be read now does not make it so.
func readCheckpoints(fsys vfs.FS, dir string) (c checkpoints, notes []error, err error) {
	for i, name := range checkpointFiles {
		c[i], err = kafkadir.ReadOffsets(fsys, dir, name)
		switch {
		case errors.As(err, new(*fs.PathError)):
			return c, nil, err
		case err != nil:
			notes = append(notes, err)
			c[i] = nil // differs from all that is written
		}
	}
	return c, notes, nil
}

// Checkpoint makes everything appended before the call durable and notes it,
// for this engine and for brokers. A log that fails does not keep the others
// from it.
func (m *Manager) Checkpoint(ctx context.Context) error {
	if err := m.writable(); err != nil {
		return err
	}
	var errs []error
	for _, l := range m.Logs() {
		if err := l.Checkpoint(ctx); err != nil && !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	m.change.Lock()
	defer m.changed()
	if err := m.writable(); err != nil { // it was closed in the meantime
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, m.writeFiles(highWatermark, recoveryPoint, logStart, cleaned))...)
}

// writeFiles replaces those of the checkpoint files that say something else
// than is true now. The caller holds change.
func (m *Manager) writeFiles(which ...int) error {
	var errs []error
	for _, i := range which {
		errs = append(errs, m.writeFile(i, m.offsets(i)))
	}
	return errors.Join(errs...)
}

// writeFile gives one of the files those lines, unless it surely has them.
func (m *Manager) writeFile(i int, now kafkadir.Offsets) error {
	if !m.unsure[i] && m.disk[i] != nil && maps.Equal(now, m.disk[i]) {
		return nil
	}
	err := kafkadir.WriteOffsets(m.opts.Log.Env.FS, m.dir, checkpointFiles[i], now)
	if m.unsure[i] = err != nil; err == nil {
		m.disk[i] = now
	}
	return err
}

// forgetNotes takes the lines out of the files that are of an earlier partition
// of that name, durably: a new one must not be taken for it after a crash. The
// name is reserved, so that they do not come back.
func (m *Manager) forgetNotes(name string) error {
	if !m.hasNotes(name) {
		return nil
	}
	m.change.Lock()
	defer m.changed()
	if err := m.writable(); err != nil {
		return err
	}
	for i, known := range m.disk {
		if _, stale := known[name]; !stale && !m.unsure[i] {
			continue
		}
		now := m.offsets(i)
		delete(now, name) // of a future copy, which has it too
		if err := m.writeFile(i, now); err != nil {
			return err
		}
	}
	return nil
}

// hasNotes says whether there may be such lines: mostly there are none, and who
// makes partitions waits for nobody.
func (m *Manager) hasNotes(name string) bool {
	m.change.RLock()
	defer m.change.RUnlock()
	for i, known := range m.disk {
		if _, stale := known[name]; stale || m.unsure[i] {
			return true
		}
	}
	return false
}

// offsets are a checkpoint's for the partitions as they are. What is known of
// those that are not open stays, unless it is of an open one of the same name.
func (m *Manager) offsets(which int) kafkadir.Offsets {
	now := make(kafkadir.Offsets)
	for _, p := range m.Partitions() {
		name := p.parsed.Live()
		if p.Log == nil {
			old, ok := m.disk[which][name]
			if live := m.lookup(name); ok && p.State != PartitionDeleted && p.State != PartitionStray && (live == nil || live.Log == nil) {
				now[name] = old
			}
			continue
		}
		switch which {
		case highWatermark:
			now[name] = p.Log.HighWatermark()
		case recoveryPoint:
			now[name] = m.cut.lower(p.Log, p.Log.Durable())
		case logStart:
			if first := p.Log.First(); first > p.Log.oldestBase() && !m.cut.drops(p.Log) {
				now[name] = first
			}
		case cleaned:
			if first := m.cut.lower(p.Log, p.Log.compaction.cleaned()); first > 0 {
				now[name] = first
			}
		}
	}
	return now
}

func (l *Log) oldestBase() int64 { return l.set.Load().oldest().Base() }
