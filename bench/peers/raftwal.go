package peers

import (
	"errors"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"
	walfs "github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// raftLog is a raft.LogStore that can be closed. Appends are one at a time, as
// raft makes them: the stores have no group commit.
type raftLog struct {
	raft.LogStore
	close func() error

	mu   sync.Mutex
	next uint64
}

func openRaftWAL(dir string, s Setting) (Log, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files types.VFS = walfs.New()
	if !s.Durable { // it has no setting for that, but takes another file system
		files = unsynced{files}
	}
	var meta metadb.BoltMetaDB // which Close of the log leaves open
	w, err := wal.Open(dir, wal.WithMetaStore(&meta), wal.WithSegmentSize(s.segmentBytes()), wal.WithSegmentFiler(segment.NewFiler(dir, files)),
		wal.WithLogger(hclog.NewNullLogger()))
	if err != nil {
		return nil, errors.Join(err, meta.Close())
	}
	return newRaftLog(w, func() error { return errors.Join(w.Close(), meta.Close()) })
}

func openRaftBolt(dir string, s Setting) (Log, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	store, err := raftboltdb.New(raftboltdb.Options{Path: inside(dir), NoSync: !s.Durable, MsgpackUseNewTimeFormat: true})
	if err != nil {
		return nil, err
	}
	return newRaftLog(store, store.Close)
}

func newRaftLog(store raft.LogStore, close func() error) (Log, error) {
	last, err := store.LastIndex()
	if err != nil {
		return nil, errors.Join(err, close())
	}
	return &raftLog{LogStore: store, close: close, next: last + 1}, nil
}

func (l *raftLog) Appender(values [][]byte) func() error {
	logs := make([]*raft.Log, len(values))
	for i, value := range values {
		logs[i] = &raft.Log{Term: 1, Data: value}
	}
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range logs {
			logs[i].Index = l.next + uint64(i)
		}
		if err := l.StoreLogs(logs); err != nil {
			return err
		}
		l.next += uint64(len(logs))
		return nil
	}
}

func (l *raftLog) Scan(each func([]byte)) error {
	for i := uint64(1); i < l.next; i++ {
		value, err := l.Get(int64(i - 1))
		if err != nil {
			return err
		}
		each(value)
	}
	return nil
}

func (l *raftLog) Get(i int64) ([]byte, error) {
	var entry raft.Log
	err := l.GetLog(uint64(i+1), &entry)
	return entry.Data, err
}

func (l *raftLog) Close() error { return l.close() }

// unsynced is a file system whose Sync does nothing.
type unsynced struct{ types.VFS }

func (f unsynced) Create(dir, name string, size uint64) (types.WritableFile, error) {
	file, err := f.VFS.Create(dir, name, size)
	return unsyncedFile{file}, err
}

func (f unsynced) OpenWriter(dir, name string) (types.WritableFile, error) {
	file, err := f.VFS.OpenWriter(dir, name)
	return unsyncedFile{file}, err
}

type unsyncedFile struct{ types.WritableFile }

func (unsyncedFile) Sync() error { return nil }
