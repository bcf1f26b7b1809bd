package log

import (
	"errors"
	"io/fs"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// snapshot is the producer state at a moment, to be made durable outside mu.
type snapshot struct {
	noted
	content  []byte   // of the snapshot file; nil where no producer is known
	txnFiles []string // transaction indexes that have to be synced for it
}

// snapshotLocked takes the state as of end, the log's end.
func (l *Log) snapshotLocked(end int64) *snapshot {
	s := &l.mu.state
	s.producers.SetNext(end)
	snap := &snapshot{noted: noted{at: end, count: s.producers.Len(), aborted: len(s.aborted)}, txnFiles: l.mu.txnFiles}
	if snap.count > 0 {
		snap.content = s.producers.Encode()
	}
	l.mu.txnFiles = nil
	return snap
}

// keep makes a snapshot durable; the next checkpoint then refers to it. The
// caller holds commit.
func (l *Log) keep(snap *snapshot) error {
	if snap == nil || snap.noted == l.commit.noted {
		return nil
	}
	err := syncNames(l.cfg.FS, snap.txnFiles)
	if err == nil && snap.count > 0 {
		err = vfs.WriteFile(l.cfg.FS, l.path(snap.at, segment.SnapshotSuffix), snap.content)
	}
	if err != nil {
		l.mu.Lock()
		l.mu.txnFiles = append(snap.txnFiles, l.mu.txnFiles...)
		l.mu.Unlock()
		return err
	}
	if last := l.commit.noted; last.count > 0 && last.at != snap.at {
		l.commit.superseded = last.at
	}
	l.commit.noted = snap.noted
	return nil
}

// dropSuperseded unlinks the snapshot file that no checkpoint refers to any
// more. Kafka keeps those of segment bases, to go back to when it truncates.
func (l *Log) dropSuperseded() {
	at := l.commit.superseded
	if l.commit.superseded = 0; at == 0 {
		return
	}
	if s := l.set.Load().floor(at, nil); s != nil && s.Base() == at {
		return
	}
	if err := l.cfg.FS.Remove(l.path(at, segment.SnapshotSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.opts.Logger.Warn("log: an old producer snapshot could not be removed", "offset", at, "error", err)
	}
}
