package peers

import (
	"errors"
	"os"
	"sync"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"
)

type etcdLog struct {
	*wal.WAL

	dir string

	mu   sync.Mutex
	next uint64
}

// openEtcd opens as etcd does: an existing log is read whole before it takes
// appends, and if it is torn it is repaired and read again.
func openEtcd(dir string, s Setting) (Log, error) {
	dir = inside(dir)
	wal.SegmentSizeBytes = int64(s.segmentBytes())
	log := zap.NewNop()
	l := &etcdLog{dir: dir, next: 1}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if l.WAL, err = wal.Create(log, dir, nil); err != nil {
			return nil, err
		}
	} else {
		entries, err := l.read()
		if err != nil {
			if !wal.Repair(log, dir) {
				return nil, err
			}
			if entries, err = l.read(); err != nil {
				return nil, err
			}
		}
		l.next += uint64(len(entries))
	}
	if !s.Durable {
		l.SetUnsafeNoFsync()
	}
	return l, nil
}

func (l *etcdLog) read() (entries []*raftpb.Entry, err error) {
	l.WAL, err = wal.Open(zap.NewNop(), l.dir, &walpb.Snapshot{Index: new(uint64), Term: new(uint64)})
	if err != nil {
		return nil, err
	}
	_, _, entries, err = l.ReadAll()
	if err != nil {
		err = errors.Join(err, l.WAL.Close())
	}
	return entries, err
}

func (l *etcdLog) Appender(values [][]byte) func() error {
	entries := make([]*raftpb.Entry, len(values))
	term := uint64(1)
	for i, value := range values {
		entries[i] = &raftpb.Entry{Term: &term, Index: new(uint64), Data: value}
	}
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range entries {
			*entries[i].Index = l.next + uint64(i)
		}
		if err := l.Save(&raftpb.HardState{}, entries); err != nil {
			return err
		}
		l.next += uint64(len(entries))
		return nil
	}
}

// Scan reads all entries to memory, which is the only way there is.
func (l *etcdLog) Scan(each func([]byte)) error {
	r, err := wal.OpenForRead(zap.NewNop(), l.dir, &walpb.Snapshot{Index: new(uint64), Term: new(uint64)})
	if err != nil {
		return err
	}
	_, _, entries, err := r.ReadAll()
	for _, entry := range entries {
		each(entry.GetData())
	}
	if e := r.Close(); !errors.Is(e, os.ErrInvalid) { // it closes a directory that it has not opened
		err = errors.Join(err, e)
	}
	return err
}
