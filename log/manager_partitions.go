package log

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
)

// Create makes the directory of a new partition, with a name like topic-0, and
// opens its log. One that is there is ErrExists.
//
// The id is the topic's in the cluster's metadata. Without one the partition
// has no partition.metadata, and a broker since Kafka 3.7 would set it aside as
// stray.
func (m *Manager) Create(ctx context.Context, name string, id TopicID) (*Log, error) {
	parsed, ok := kafkadir.ParseName(name)
	if !ok || parsed.State != PartitionLive || !kafkadir.ValidTopic(parsed.Topic) || parsed.Topic == kafkadir.ClusterMetadata {
		return nil, fmt.Errorf("log: %w: %q is no name of a partition", record.ErrInvalid, name)
	}
	if err := m.reserve(name); err != nil {
		return nil, err
	}
	defer m.unreserve(name)
	if err := m.forgetNotes(name); err != nil {
		return nil, err
	}
	m.change.RLock()
	defer m.made()
	if err := m.writable(); err != nil { // it was closed in the meantime
		return nil, err
	}
	if err := m.makeDir(name, id); err != nil {
		return nil, err
	}
	m.open(ctx, &Partition{Name: name, Topic: parsed.Topic, Number: parsed.Partition, parsed: parsed})
	p := m.lookup(name)
	return p.Log, p.Err
}

// makeDir makes the directory of a partition. Its name is durable once its log is
// open.
func (m *Manager) makeDir(name string, id TopicID) error {
	fsys, dir := m.opts.Log.Env.FS, filepath.Join(m.dir, name)
	err := fsys.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		err = vfs.MkdirAll(fsys, dir, 0o755) // refuses what is no directory
	}
	if err != nil || id == (TopicID{}) {
		return err
	}
	return kafkadir.WriteTopicID(fsys, dir, id)
}

// Reopen tries again to open a partition that was set aside, for instance since
// the disk was full. The log of one that is open is returned.
func (m *Manager) Reopen(ctx context.Context, name string) (*Log, error) {
	m.change.Lock()
	defer m.changed()
	if l, err := m.Log(name); err == nil || errors.Is(err, ErrNoPartition) || errors.Is(err, ErrClosed) {
		return l, err
	}
	m.open(ctx, m.lookup(name))
	m.lowerAfter()
	p := m.lookup(name)
	return p.Log, p.Err
}

// Delete closes a partition's log and takes the partition away for good: its
// directory is renamed, which is durable when Delete returns, and its files are
// unlinked: at once or, where its DeleteDelay is not 0, later by Maintain or
// Close. One that could not be opened can be deleted, too, and so can future
// copies and strays, by their directory's name. What the directory's files note
// of it stays until they are written next, by Checkpoint, Maintain or Close, or
// until Create makes a partition of that name.
func (m *Manager) Delete(name string) error {
	m.change.Lock()
	defer m.changed()
	if err := m.writable(); err != nil {
		return err
	}
	p := m.lookup(name)
	if p == nil || p.State == PartitionDeleted {
		return fmt.Errorf("%w: %s", ErrNoPartition, name)
	}
	if p.Log != nil {
		if err := m.closeLog(p.Log); err != nil { // what it could not write is not wanted
			m.opts.Log.Logger.Warn("log: closing a log to delete it", "name", name, "error", err)
		}
	}
	gone := *p
	gone.Log, gone.Err = nil, nil
	gone.parsed.State, gone.parsed.ID = PartitionDeleted, kafkadir.NewID().Hex()
	gone.Name, gone.State = gone.parsed.String(), PartitionDeleted
	gone.until = m.opts.Log.Env.Now().Add(m.logOptions(p.parsed.Live()).DeleteDelay)
	if err := vfs.Replace(m.opts.Log.Env.FS, filepath.Join(m.dir, name), filepath.Join(m.dir, gone.Name)); err != nil {
		return errors.Join(err, m.putBack(p, &gone))
	}
	m.without(name)
	m.put(&gone)
	if err := m.unlinkDeleted(m.due); err != nil { // Maintain tries again
		m.opts.Log.Logger.Warn("log: a deleted partition could not be unlinked", "name", gone.Name, "error", err)
	}
	return nil // its lines stay until the files are written next: see Create
}

// putBack is what is left of a partition whose directory may have been renamed.
func (m *Manager) putBack(p, gone *Partition) error {
	_, err := m.opts.Log.Env.FS.Stat(filepath.Join(m.dir, gone.Name))
	if err == nil { // and only the sync failed
		m.without(p.Name)
		m.put(gone)
		return nil
	}
	if p.State == PartitionLive {
		m.open(context.Background(), p)
	}
	return nil
}

// due says whether the time of a deleted partition's files has come.
func (m *Manager) due(p *Partition) bool { return !p.until.After(m.opts.Log.Env.Now()) }

// unlinkDeleted removes the directories of deleted partitions that are due. One
// that cannot be removed stays for another time.
func (m *Manager) unlinkDeleted(due func(*Partition) bool) error {
	var errs []error
	for _, p := range m.deleted(due) {
		if err := removeTree(m.opts.Log.Env.FS, filepath.Join(m.dir, p.Name)); err != nil {
			errs = append(errs, err)
			continue
		}
		m.without(p.Name)
	}
	return errors.Join(errs...)
}

// deleted lists the deleted partitions that are due, by name. It copies and sorts
// none of the others: who deletes a topic is here for each of its partitions.
func (m *Manager) deleted(due func(*Partition) bool) (list []*Partition) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, p := range m.mu.partitions {
		if p.State == PartitionDeleted && due(p) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *Partition) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// removeTree removes a directory with the files in it.
func removeTree(fsys vfs.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			errs = append(errs, removeTree(fsys, name))
			continue
		}
		if err := fsys.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return fsys.Remove(dir)
}
