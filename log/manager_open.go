package log

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// OpenManager opens a directory of logs, which is created if need be (not by
// ReadOnly), and the logs of all its partitions.
//
// A log that cannot be opened does not keep the others from it: see Partitions.
// The error is one of the directory: it cannot be read or written, ctx is done
// (calling again goes on), or a process writes to it, a Kafka broker say
// (ErrLocked). ReadOnly needs no lock, and reads beside such a process.
//
// Of what a broker noted, a partition's log start offset is obeyed, if a broker
// can have had the directory since this engine had it. Recovery points are not:
// logs that this engine has not closed itself are verified from their first batch
// on.
func OpenManager(ctx context.Context, dir string, o ManagerOptions) (_ *Manager, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Manager{dir: dir, opts: o, cache: segment.NewCache(o.Log.MappedSegments)}
	m.mu.partitions, m.mu.making = make(map[string]*Partition), make(map[string]bool)
	if o.Log.Mode != ReadOnly {
		if err := m.lock(); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.closeLogs(), m.unlock())
		}
		tellAll(m.takeUntold())
	}()
	if err := m.files(); err != nil {
		return nil, err
	}
	if err := m.list(); err != nil {
		return nil, err
	}
	parallel(ctx, o.Parallel, m.Partitions(), func(p Partition) {
		m.open(ctx, &p)
		tellAll(m.takeUntold()) // at once: nobody has the Manager yet
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	m.lowerAfter()
	return m, nil
}

// lock takes both locks: ours, and the one that brokers take, so that none
// starts beside us.
func (m *Manager) lock() error {
	fsys := m.opts.Log.Env.FS
	if err := vfs.MkdirAll(fsys, m.dir, 0o755); err != nil {
		return err
	}
	ours, err := fsys.Lock(filepath.Join(m.dir, LockName))
	if err != nil {
		return err
	}
	m.locks = append(m.locks, ours)
	brokers, err := vfs.LockRecords(fsys, filepath.Join(m.dir, kafkadir.LockFile))
	if err != nil {
		return errors.Join(err, m.unlock())
	}
	m.locks = append(m.locks, brokers)
	return nil
}

func (m *Manager) unlock() error {
	var errs []error
	for _, l := range slices.Backward(m.locks) {
		errs = append(errs, l.Close())
	}
	m.locks = nil
	return errors.Join(errs...)
}

// files reads the directory's text files. The mark of a clean shutdown goes
// before anything is changed: a broker would look at nothing while it is there.
func (m *Manager) files() error {
	fsys := m.opts.Log.Env.FS
	marker := filepath.Join(m.dir, kafkadir.CleanShutdownFile)
	mark, err := vfs.ReadFile(fsys, marker)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m.found.Clean = err == nil
	m.closedHere = m.found.Clean && string(mark) == kafkadir.CleanShutdown
	if m.found.Clean && m.opts.Log.Mode != ReadOnly {
		if err := errors.Join(fsys.Remove(marker), fsys.SyncDir(m.dir)); err != nil {
			return err
		}
	}
	if m.found.Meta, err = kafkadir.ReadMeta(fsys, m.dir); vfs.Unreadable(err) {
		return err
	} else if err != nil {
		m.note("%v", err)
	}
	var notes []error
	if m.disk, notes, err = readCheckpoints(fsys, m.dir); err != nil {
		return err
	}
	for _, n := range notes {
		m.note("not believed: %v", n)
	}
	return nil
}

// note takes note of an oddity. It is called before there are goroutines.
func (m *Manager) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	m.found.Notes = append(m.found.Notes, text)
	m.opts.Log.Logger.Warn("log: in the directory of a manager", "dir", m.dir, "note", text)
}

// known are the directories of a broker that are no partitions of its log
// manager: KRaft's own log, and the cache of tiered storage.
var known = []string{kafkadir.ClusterMetadata + "-0", "remote-log-index-cache"}

// list finds the partitions.
func (m *Manager) list() error {
	entries, err := m.opts.Log.Env.FS.ReadDir(m.dir)
	if err != nil {
		return err
	}
	until := m.opts.Log.Env.Now().Add(m.opts.Log.DeleteDelay)
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(known, e.Name()) {
			continue
		}
		name, ok := kafkadir.ParseName(e.Name())
		if !ok {
			m.note("%s is left alone: it is no directory of a partition", e.Name())
			continue
		}
		m.put(&Partition{Name: e.Name(), Topic: name.Topic, Number: name.Partition, State: name.State, parsed: name, until: until})
	}
	if m.closedHere || m.opts.Log.Mode == ReadOnly {
		return nil
	}
	// Who was killed may not have come to that: the directory stays, and so does what
	// is made here, or deleted.
	fsys := m.opts.Log.Env.FS
	if err := fsys.SyncDir(filepath.Dir(m.dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fsys.SyncDir(m.dir)
}

// open opens the log of a partition, or notes why it cannot be.
func (m *Manager) open(ctx context.Context, found *Partition) {
	p := *found
	p.Log, p.Err = nil, nil
	dir := filepath.Join(m.dir, p.Name)
	id, err := kafkadir.ReadTopicID(m.opts.Log.Env.FS, dir)
	switch {
	case vfs.Unreadable(err) && p.State == PartitionLive:
		p.Err = err // whoever asks for its topic must not be told that it has none
	case err != nil: // no data hangs on it
		m.opts.Log.Logger.Warn("log: a partition without its topic id", "error", err)
	}
	p.TopicID = id
	if p.State == PartitionLive && p.Err == nil {
		start, err := m.notedStart(p.Name) // before the files are mended
		if err != nil {
			p.Err = err
		} else if l, err := open(ctx, dir, m.logOptions(p.Name)); err != nil {
			p.Err = err
		} else {
			p.Log = l
			m.obey(&p, start)
			m.later(l.opened()...)
		}
	}
	if p.Err != nil {
		m.opts.Log.Logger.Error("log: a partition is set aside", "dir", dir, "error", p.Err)
	}
	m.put(&p)
}

// obey raises the log start to what a broker noted since this engine had the
// log last; of a log it never had, recovery knows. The high watermark is a
// follower's to obey: who replicates to nobody has all there is.
func (m *Manager) obey(p *Partition, noted notedStart) {
	if m.opts.Log.Mode == ReadOnly {
		return
	}
	if first, ok := m.disk[cleaned][p.Name]; ok && !p.Log.born.Foreign {
		p.Log.compaction.believe(first)
	}
	var errs []error
	if mark, ok := m.disk[highWatermark][p.Name]; ok && p.Log.opts.Mode == Follower && p.Log.born.Foreign {
		errs = append(errs, p.Log.SetHighWatermark(mark))
	}
	if start := min(noted.offset, p.Log.End()); start > p.Log.First() && m.believes(noted, p) {
		if start > p.Log.HighWatermark() { // it was above once, or nothing below it had been dropped
			errs = append(errs, p.Log.SetHighWatermark(start))
		}
		errs = append(errs, p.Log.DropBefore(start))
	}
	if err := errors.Join(errs...); err != nil {
		p.Err = errors.Join(err, m.closeLog(p.Log))
		p.Log = nil
	}
}

// logOptions are the settings of one partition's log.
func (m *Manager) logOptions(name string) Options {
	o := m.opts.Log
	if m.opts.Each != nil {
		mode := o.Mode
		o = m.opts.Each(name, o)
		o.Env = m.opts.Log.Env
		if mode == ReadOnly || o.Mode == ReadOnly {
			o.Mode = mode
		}
	}
	o.cache, o.cutting, o.syncParent = m.cache, m.cutting, m.syncNames
	return o
}
