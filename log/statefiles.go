package log

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

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
// the checkpoint vouches for them and from the batches where not, and says
// whether the files may be others than it. A file that is missing or wrong costs
// a walk over all batches and keeps no log from opening. One that cannot be read
// now does: what it says of producers and epochs no batch may say any more.
func (l *Log) loadState(r *recovery.Report, segments []*segment.Segment) (s state, n noted, derived bool, err error) {
	file, err := l.readEpochs(r)
	if vfs.Unreadable(err) {
		return s, n, false, err
	}
	s, n, derived, err = l.deriveState(r, segments, file, err == nil && len(file.Entries()) > 0) // an empty one says nothing
	s.led = max(s.led, s.latestEpoch())
	// Batches that share a segment with the log's start are there and are none.
	s.epochs.TruncateFromStart(r.LogStart)
	if newest, ok := file.Latest(); !ok || newest.Start < r.End {
		s.epochs.TruncateFromEnd(r.End)
	}
	return s, n, derived, err
}

func (l *Log) deriveState(r *recovery.Report, segments []*segment.Segment, file epochs.History, known bool) (s state, n noted, derived bool, err error) {
	files, err := l.stateFiles()
	if err != nil {
		return s, n, false, err
	}
	first := segments[0].Base()
	s, n, doubts, err := l.stateNoted(r, segments, files, file, known)
	if err != nil {
		return s, n, false, err
	}
	if doubts == (stateDoubts{}) {
		p := replay{verify: n.at < r.Checkpoint.RecoveryPoint, epochs: watchEpochs(s.epochs, file, known, n.at, r.LogStart)}
		if err := p.into(&s, segments, n.at, r.End); err != nil {
			return s, n, false, err
		}
		return s, n, false, p.settle(&s, segments, n.at, r.End, r.LogStart, l.settings.Load().Compaction != nil)
	}
	s, n = state{}, noted{}
	p := replay{verify: !r.Foreign || len(r.Damage) > 0,
		epochs: watchEpochs(epochs.History{}, file, known && !doubts.epochs, first, r.LogStart)}
	if l.opts.Mode == Repair {
		p.lost = takenOut(r)
	}
	if !doubts.aborted {
		p.aborts = func() ([]index.AbortedTxn, error) { return l.readAborts(files.txns) }
	}
	if err := p.into(&s, segments, first, r.End); err != nil {
		return s, n, false, err
	}
	// The newest snapshot knows producers whose batches are gone. Aborted
	// and ended transactions and epochs are derived from what is there all the same.
	if doubts.snapshot {
		files.snapshots = slices.DeleteFunc(files.snapshots, func(at int64) bool { return at == r.Checkpoint.ProducersAt })
	}
	table, at, err := l.newestSnapshot(files, max(first, r.LogStart), r.End)
	if table == nil || err != nil {
		return s, n, true, err
	}
	since := state{producers: *table}
	p.epochs = nil
	if err = p.into(&since, segments, at, r.End); err == nil {
		err = p.settle(&since, segments, at, r.End, r.LogStart, l.settings.Load().Compaction != nil)
	}
	ended := s.producers.Ended()
	s.producers = since.producers
	s.producers.SetEnded(ended, r.End)
	return s, n, true, err
}

// stateDoubts are the files that are not as the checkpoint noted.
type stateDoubts struct {
	epochs, snapshot, aborted bool
	all                       bool // there is no such note, or it is of another log
}

// stateNoted is the state as of the last checkpoint, if everything it consists
// of is there.
func (l *Log) stateNoted(r *recovery.Report, segments []*segment.Segment, files stateFiles, file epochs.History, known bool) (s state, n noted, doubts stateDoubts, err error) {
	c := r.Checkpoint
	if c == nil || len(r.Damage) > 0 || c.ProducersAt > r.End || c.Dropping ||
		c.ProducersAt < segments[0].Base() { // the batches behind it are not all there any more
		doubts.all = true
		return s, n, doubts, nil
	}
	n.at, n.count = c.ProducersAt, c.Producers
	if !known && r.End > segments[0].Base() {
		doubts.epochs = true // there are batches, and an epoch at least with them
	}
	s.epochs = file
	if n.at < r.End {
		s.epochs.TruncateFromEnd(n.at)
	}
	if c.Producers > 0 {
		var table *producers.Table
		if table, n.snapshot, err = l.readSnapshot(n.at); vfs.Unreadable(err) {
			return s, n, doubts, err
		} else if err == nil {
			s.producers = *table
		}
		doubts.snapshot = err != nil
	}
	s.producers.SetNext(n.at)
	s.producers.SetEnded(c.Ended, n.at)
	n.ended = len(c.Ended)
	there := make(map[int64]bool)
	for _, seg := range segments {
		there[seg.Base()] = files.txns[seg.Base()]
	}
	list, err := l.readAborts(there)
	if err != nil {
		return s, n, doubts, err
	}
	to, _ := findAbort(list, n.at)
	s.aborted = list[:to:to]
	n.aborts = abortsOf(s.aborted, 0, n.at)
	doubts.aborted = n.aborted != c.Aborted
	if sums := c.Sums; sums != nil {
		doubts.epochs = doubts.epochs || epochsSum(s.epochs, r.LogStart, math.MaxInt64) != sums.Epochs
		doubts.aborted = doubts.aborted || n.sum != sums.Aborted
		doubts.snapshot = doubts.snapshot || n.snapshot != sums.Snapshot
	}
	return s, n, doubts, nil
}

// readAborts reads the transaction indexes of those segments. One that is none
// has no entries.
func (l *Log) readAborts(of map[int64]bool) (all []index.AbortedTxn, err error) {
	for _, base := range slices.Sorted(maps.Keys(of)) {
		if !of[base] {
			continue
		}
		list, err := l.readTxns(base)
		if vfs.Unreadable(err) {
			return nil, err
		}
		if err != nil || len(all) > 0 && len(list) > 0 && list[0].Last <= all[len(all)-1].Last {
			continue
		}
		all = append(all, list...)
	}
	return all, nil
}

// takenOut are the offsets that recovery found damaged and took out.
func takenOut(r *recovery.Report) (lost []offsets) {
	for _, d := range r.Damage {
		end := d.Next
		if end < 0 {
			end = r.End
			for _, s := range r.Segments {
				if s.Base > d.Segment {
					end = min(end, s.Base)
				}
			}
		}
		lost = append(lost, offsets{d.Offset, end})
	}
	slices.SortFunc(lost, func(a, b offsets) int { return cmp.Compare(a.from, b.from) })
	return lost
}

// stateFiles are the files of a directory that keep state.
type stateFiles struct {
	txns      map[int64]bool // segments that have a transaction index
	snapshots []int64        // ascending
}

func (l *Log) stateFiles() (stateFiles, error) {
	entries, err := l.cfg.FS.ReadDir(l.dir)
	if err != nil {
		return stateFiles{}, err
	}
	files := stateFiles{txns: make(map[int64]bool)}
	for _, e := range entries { // names sort by offset
		switch offset, suffix, ok := segment.ParseName(e.Name()); {
		case ok && suffix == segment.TxnIndexSuffix:
			files.txns[offset] = true
		case ok && suffix == segment.SnapshotSuffix:
			files.snapshots = append(files.snapshots, offset)
		}
	}
	return files, nil
}

// readEpochs is the history of leader epochs as far as it is about the log. The
// epoch of a leader that has written nothing is in it only after a clean close,
// which has noted it: no batch could bear it out.
func (l *Log) readEpochs(r *recovery.Report) (epochs.History, error) {
	if r.StartingAnew() {
		return epochs.History{}, nil
	}
	if r.Clean && r.Checkpoint.Sums != nil && r.Checkpoint.ProducersAt == r.End {
		h, err := l.readEpochsOf(r.LogStart, r.End+1)
		if err == nil && epochsSum(h, r.LogStart, r.End+1) == r.Checkpoint.Sums.Epochs {
			return h, nil
		}
	}
	return l.readEpochsOf(r.LogStart, r.End)
}

func (l *Log) readEpochsOf(start, end int64) (epochs.History, error) {
	text, err := vfs.ReadFile(l.cfg.FS, filepath.Join(l.dir, epochs.FileName))
	if err != nil {
		return epochs.History{}, err
	}
	h, err := epochs.Decode(text)
	h.TruncateFromEnd(end)
	h.TruncateFromStart(start)
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

// readSnapshot is the producer state as of an offset, and the xxhash64 of its
// file; producers that have long been silent are left out.
func (l *Log) readSnapshot(at int64) (t *producers.Table, sum uint64, err error) {
	content, err := vfs.ReadFile(l.cfg.FS, l.path(at, segment.SnapshotSuffix))
	if err != nil {
		return nil, 0, err
	}
	if t, err = producers.Decode(content, at); err != nil {
		return nil, 0, err
	}
	t.Expire(l.opts.Env.Now().UnixMilli(), producerExpiration)
	return t, xxhash.Sum64(content), nil
}

// newestSnapshot is the newest snapshot in (above, end] that holds one.
func (l *Log) newestSnapshot(files stateFiles, above, end int64) (*producers.Table, int64, error) {
	for _, at := range slices.Backward(files.snapshots) {
		if at <= above || at > end {
			continue
		}
		t, _, err := l.readSnapshot(at)
		if err == nil {
			return t, at, nil
		}
		if vfs.Unreadable(err) {
			return nil, 0, err
		}
		l.opts.Logger.Warn("log: a producer snapshot is not believed", "offset", at, "error", err)
	}
	return nil, 0, nil
}

func (l *Log) path(base int64, suffix string) string {
	return filepath.Join(l.dir, segment.Name(base, suffix))
}

// mendStateFiles brings the files to what was derived. What cannot be written
// now is written before anybody relies on it: see mendTxnsLocked and keepEpochs.
func (l *Log) mendStateFiles(s *state, segments []*segment.Segment) {
	for _, seg := range segments {
		l.mu.txnsBehind[seg.Base()] = true
	}
	if err := l.mendTxnsLocked(); err != nil {
		l.opts.Logger.Warn("log: the transaction indexes could not be written yet", "dir", l.dir, "error", err)
	}
	l.keepEpochs(s)
}

// mendTxnsLocked writes the transaction indexes anew that are not what the
// state says, or may not be. A checkpoint takes them for what it counted.
func (l *Log) mendTxnsLocked() error {
	if len(l.mu.txnsBehind) == 0 {
		return nil
	}
	files, err := l.stateFiles()
	if err != nil {
		return err
	}
	var errs []error
	for _, base := range slices.Sorted(maps.Keys(l.mu.txnsBehind)) {
		if err := l.mendTxnLocked(base, files.txns[base]); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(l.mu.txnsBehind, base)
	}
	return errors.Join(errs...)
}

func (l *Log) mendTxnLocked(base int64, has bool) error {
	set := l.set.Load()
	if s := set.floor(base, nil); s == nil || s.Base() != base {
		return nil // dropped since
	}
	end := int64(math.MaxInt64)
	if next := set.after(base); next != nil {
		end = next.Base()
	}
	var want []byte
	for _, a := range l.mu.state.aborted {
		if a.Last >= base && a.Last < end {
			want = index.AppendTxn(want, a)
		}
	}
	if !has && want == nil {
		return nil
	}
	name := l.path(base, segment.TxnIndexSuffix)
	if err := l.replaceIfOther(name, want); err != nil {
		return err
	}
	if want != nil {
		l.mu.txnFiles = append(l.mu.txnFiles, name) // right as it is, it need not be durable
	}
	return nil
}

// mendEpochsLocked writes the file of leader epochs if it may not be what the
// state has. A checkpoint vouches for it, and a batch may hang on it.
func (l *Log) mendEpochsLocked() error {
	if !l.mu.epochsBehind {
		return nil
	}
	if err := l.writeEpochs(&l.mu.state); err != nil {
		return err
	}
	l.mu.epochsBehind = false
	return nil
}

// keepEpochs is writeEpochs, tried again before the next append or checkpoint if
// it fails.
func (l *Log) keepEpochs(s *state) {
	err := l.writeEpochs(s)
	if l.mu.epochsBehind = err != nil; err != nil {
		l.opts.Logger.Warn("log: the leader epochs could not be written yet", "dir", l.dir, "error", err)
	}
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

// appendTxnLocked adds an entry to the active segment's transaction index. If
// that fails the next checkpoint writes the file anew.
func (l *Log) appendTxnLocked(a index.AbortedTxn) {
	base := l.mu.active.Base()
	name := l.path(base, segment.TxnIndexSuffix)
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
		l.mu.txnsBehind[base] = true
		l.opts.Logger.Warn("log: a transaction index could not be written yet", "file", name, "error", err)
	}
	l.mu.txnFiles = append(l.mu.txnFiles, name)
	l.mu.newNames = true
}

// syncFiles makes files durable that may have been removed since.
func syncFiles(fsys vfs.FS, names []string) error {
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
