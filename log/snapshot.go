package log

import (
	"errors"
	"io/fs"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

// snapshot is the producer state at a moment, to be made durable outside mu.
type snapshot struct {
	noted
	epochs   epochs.History
	content  []byte          // of the snapshot file; nil where no producer is known
	ended    []producers.Txn // what the checkpoint has to say beside it
	txnFiles []string        // transaction indexes that have to be synced for it
}

// snapshotLocked takes the state as of end, the log's end.
func (l *Log) snapshotLocked(end int64) (*snapshot, error) {
	if err := l.mendTxnsLocked(); err != nil {
		return nil, err
	}
	if err := l.mendEpochsLocked(); err != nil {
		return nil, err
	}
	s := &l.mu.state
	s.producers.SetNext(end)
	ended := s.producers.Ended()
	snap := &snapshot{noted: noted{at: end, count: s.producers.Len(), ended: len(ended), aborts: abortsOf(s.aborted, 0, end)},
		epochs: s.epochs, ended: ended, txnFiles: l.mu.txnFiles}
	if snap.count > 0 {
		snap.content = s.producers.Encode()
		snap.snapshot = xxhash.Sum64(snap.content)
	}
	l.mu.txnFiles = nil
	return snap, nil
}

// keep makes a snapshot durable; the next checkpoint then refers to it. The
// caller holds commit.
func (l *Log) keep(snap *snapshot) error {
	if snap == nil {
		return nil
	}
	if snap.noted == l.commit.noted {
		l.commit.epochs = snap.epochs // there may be a leader since who has written nothing
		return nil
	}
	if err := syncFiles(l.cfg.FS, snap.txnFiles); err != nil {
		return err
	}
	if snap.count > 0 {
		if err := vfs.WriteFile(l.cfg.FS, l.path(snap.at, segment.SnapshotSuffix), snap.content); err != nil {
			l.commit.superseded = append(l.commit.superseded, snap.at) // it may be there all the same
			return err
		}
	}
	if last := l.commit.noted; last.count > 0 && last.at != snap.at {
		l.commit.superseded = append(l.commit.superseded, last.at)
	}
	l.commit.noted, l.commit.epochs, l.commit.ended = snap.noted, snap.epochs, snap.ended
	return nil
}

// dropSuperseded unlinks the snapshot files that no checkpoint refers to any
// more. Kafka keeps those of segment bases, to go back to when it truncates.
func (l *Log) dropSuperseded() {
	var left []int64
	for _, at := range l.commit.superseded {
		if s := l.set.Load().floor(at, nil); s != nil && s.Base() == at || at == l.commit.noted.at {
			continue
		}
		if err := l.cfg.FS.Remove(l.path(at, segment.SnapshotSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.opts.Logger.Warn("log: an old producer snapshot could not be removed yet", "offset", at, "error", err)
			left = append(left, at)
		}
	}
	l.commit.superseded = left
}
