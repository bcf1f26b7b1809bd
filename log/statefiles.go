package log

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/epochs"
	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// producerExpiration is how long a producer without an open transaction is
// remembered after its last batch (producer.id.expiration.ms).
const producerExpiration = 24 * 60 * 60 * 1000

// loadState derives the state of a log that was opened, from its files where
// the checkpoint vouches for them and from the batches where not. No file can
// keep a log from opening: one that is missing or wrong costs a walk over all
// headers.
func (l *Log) loadState(r *recovery.Report, segments []*segment.Segment) (state, error) {
	if s, from, ok := l.stateNoted(r, segments); ok {
		return s, s.replay(segments, from, r.End)
	}
	var s state
	if h, err := l.readEpochs(r); err == nil { // it may know epochs whose batches are gone
		s.epochs = h
	}
	first := segments[0].Base()
	// The newest snapshot knows producers whose batches are gone. Aborted
	// transactions and epochs are derived from what is there all the same.
	table, at := l.newestSnapshot(max(first, r.LogStart), r.End)
	if table == nil {
		return s, s.replay(segments, first, r.End)
	}
	if err := s.replay(segments, first, at); err != nil {
		return s, err
	}
	s.producers = *table
	return s, s.replay(segments, at, r.End)
}

// stateNoted is the state as of the last checkpoint, if everything it consists
// of is there; from is the offset to replay from.
func (l *Log) stateNoted(r *recovery.Report, segments []*segment.Segment) (s state, from int64, ok bool) {
	c := r.Checkpoint
	if c == nil || len(r.Damage) > 0 || c.ProducersAt > r.End || c.Dropping {
		return s, 0, false
	}
	history, err := l.readEpochs(r)
	if (err != nil || len(history.Entries()) == 0) && r.End > segments[0].Base() {
		return state{}, 0, false // there are batches, and an epoch at least with them
	}
	s.epochs = history
	if c.Producers > 0 {
		table, err := l.readSnapshot(c.ProducersAt)
		if err != nil {
			return state{}, 0, false
		}
		s.producers = *table
	}
	s.producers.SetNext(c.ProducersAt)
	below := 0
	have, err := l.txnIndexes()
	if err != nil {
		return state{}, 0, false
	}
	for _, seg := range segments {
		if !have[seg.Base()] {
			continue
		}
		list, err := l.readTxns(seg.Base())
		if err != nil {
			return state{}, 0, false
		}
		for _, a := range list {
			if a.Last < c.ProducersAt {
				s.aborted = append(s.aborted, a)
				below++
			}
		}
	}
	return s, c.ProducersAt, below == c.Aborted
}

// readEpochs is the history of leader epochs as far as it is about the log.
func (l *Log) readEpochs(r *recovery.Report) (epochs.History, error) {
	text, err := vfs.ReadFile(l.cfg.FS, filepath.Join(l.dir, epochs.FileName))
	if err != nil {
		return epochs.History{}, err
	}
	h, err := epochs.Decode(text)
	h.TruncateFromEnd(r.End)
	h.TruncateFromStart(r.LogStart)
	return h, err
}

// readTxns is a segment's transaction index.
func (l *Log) readTxns(base int64) ([]index.AbortedTxn, error) {
	content, err := vfs.ReadFile(l.cfg.FS, l.path(base, segment.TxnIndexSuffix))
	if err != nil {
		return nil, err
	}
	return index.DecodeTxns(content, base)
}

// readSnapshot is the producer state as of an offset; producers that have long
// been silent are left out.
func (l *Log) readSnapshot(at int64) (*producers.Table, error) {
	content, err := vfs.ReadFile(l.cfg.FS, l.path(at, segment.SnapshotSuffix))
	if err != nil {
		return nil, err
	}
	t, err := producers.Decode(content, at)
	if err == nil {
		t.Expire(l.opts.Env.Now().UnixMilli(), producerExpiration)
	}
	return t, err
}

// newestSnapshot is the newest readable snapshot in (above, end].
func (l *Log) newestSnapshot(above, end int64) (*producers.Table, int64) {
	entries, err := l.cfg.FS.ReadDir(l.dir)
	if err != nil {
		return nil, 0
	}
	for _, e := range slices.Backward(entries) { // names sort by offset
		at, suffix, ok := segment.ParseName(e.Name())
		if !ok || suffix != segment.SnapshotSuffix || at <= above || at > end {
			continue
		}
		t, err := l.readSnapshot(at)
		if err == nil {
			return t, at
		}
		l.opts.Logger.Warn("log: a producer snapshot is not believed", "file", e.Name(), "error", err)
	}
	return nil, 0
}

func (l *Log) path(base int64, suffix string) string {
	return filepath.Join(l.dir, segment.Name(base, suffix))
}

// writeStateFiles brings the files to what was derived. They are derived again
// where that fails.
func (l *Log) writeStateFiles(s *state, segments []*segment.Segment) {
	have, err := l.txnIndexes()
	if err != nil {
		l.opts.Logger.Warn("log: the directory could not be read", "dir", l.dir, "error", err)
		return
	}
	for i, seg := range segments {
		end := int64(math.MaxInt64)
		if i < len(segments)-1 {
			end = segments[i+1].Base()
		}
		var want []byte
		for _, a := range s.aborted {
			if a.Last >= seg.Base() && a.Last < end {
				want = index.AppendTxn(want, a)
			}
		}
		if !have[seg.Base()] && want == nil {
			continue
		}
		name := l.path(seg.Base(), segment.TxnIndexSuffix)
		l.mu.txnFiles = append(l.mu.txnFiles, name) // right as it is, it need not be durable
		if err := l.replaceIfOther(name, want); err != nil {
			l.opts.Logger.Warn("log: a transaction index could not be written", "segment", seg.Base(), "error", err)
		}
	}
	l.keepEpochs(s)
}

// keepEpochs is writeEpochs, tried again before the next append if it fails.
func (l *Log) keepEpochs(s *state) {
	err := l.writeEpochs(s)
	if l.mu.epochsBehind = err != nil; err != nil {
		l.opts.Logger.Warn("log: the leader epochs could not be written", "dir", l.dir, "error", err)
	}
}

// txnIndexes tells which segments have a transaction index.
func (l *Log) txnIndexes() (map[int64]bool, error) {
	entries, err := l.cfg.FS.ReadDir(l.dir)
	if err != nil {
		return nil, err
	}
	have := make(map[int64]bool)
	for _, e := range entries {
		if base, suffix, ok := segment.ParseName(e.Name()); ok && suffix == segment.TxnIndexSuffix {
			have[base] = true
		}
	}
	return have, nil
}

// replaceIfOther gives a file that content, or removes it for none.
func (l *Log) replaceIfOther(name string, content []byte) error {
	have, err := vfs.ReadFile(l.cfg.FS, name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil && len(content) == 0, err == nil && len(content) > 0 && string(have) == string(content):
		return nil
	case len(content) == 0:
		return l.cfg.FS.Remove(name)
	}
	return vfs.WriteFile(l.cfg.FS, name, content)
}

// writeEpochs keeps the history of leader epochs.
func (l *Log) writeEpochs(s *state) error {
	name := filepath.Join(l.dir, epochs.FileName)
	if len(s.epochs.Entries()) == 0 {
		if _, err := l.cfg.FS.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	want := s.epochs.Encode()
	if have, err := vfs.ReadFile(l.cfg.FS, name); err == nil && string(have) == string(want) {
		return nil
	}
	return vfs.WriteFile(l.cfg.FS, name, want)
}

// appendTxnLocked adds an entry to the active segment's transaction index. The
// file is derived: that it could not be written is told, and the next
// checkpoint's count lets the next open derive it.
func (l *Log) appendTxnLocked(a index.AbortedTxn) {
	name := l.path(l.mu.active.Base(), segment.TxnIndexSuffix)
	err := func() (err error) {
		f, err := l.cfg.FS.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		size, err := f.Size()
		if err != nil {
			return err
		}
		_, err = f.WriteAt(index.AppendTxn(nil, a), size-size%index.TxnEntrySize)
		return err
	}()
	if err != nil {
		l.opts.Logger.Warn("log: a transaction index could not be written", "file", name, "error", err)
	}
	l.mu.txnFiles = append(l.mu.txnFiles, name)
	l.mu.newNames = true
}

// syncNames makes files durable that may have been removed since.
func syncNames(fsys vfs.FS, names []string) error {
	for _, name := range names {
		f, err := fsys.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
