package compact

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// output is the segment being written, under names that end in .cleaned.
type output struct {
	cfg     *segment.Config
	facts   segment.Facts
	log     vfs.File
	buf     []byte // not yet written
	written int64
	sum     *xxhash.Digest
	index   index.Writer
	txns    []byte
}

// writeBytes is how much is written at a time.
const writeBytes = 1 << 20

// indexMemory is where indexes are built, one segment's after the other.
type indexMemory struct{ offsets, times []byte }

// of is room for the indexes of a log of size bytes.
func (m *indexMemory) of(cfg *segment.Config, base, size int64) index.Writer {
	entries := size/cfg.IndexInterval + 2
	room := func(b []byte, entry int64) []byte {
		if n := min(entries*entry, segment.MaxIndexBytes/entry*entry); int64(len(b)) < n {
			return make([]byte, n)
		}
		return b
	}
	m.offsets, m.times = room(m.offsets, index.OffsetEntrySize), room(m.times, index.TimeEntrySize)
	return index.NewWriter(cfg.IndexInterval, index.NewOffsets(base, m.offsets, 0), index.NewTimes(base, m.times, 0),
		index.TimeEntry{Timestamp: -1, Offset: base})
}

func newOutput(cfg *segment.Config, base int64, w index.Writer, buf []byte) (*output, error) {
	f, err := create(cfg, base, segment.LogSuffix)
	if err != nil {
		return nil, err
	}
	if buf == nil {
		buf = make([]byte, 0, writeBytes+chunkBytes)
	}
	return &output{cfg: cfg, facts: segment.Empty(base), log: f, buf: buf[:0], sum: xxhash.New(), index: w}, nil
}

func cleanedName(cfg *segment.Config, base int64, suffix string) string {
	return filepath.Join(cfg.Dir, segment.Name(base, suffix)+segment.CleanedSuffix)
}

func create(cfg *segment.Config, base int64, suffix string) (vfs.File, error) {
	return cfg.FS.OpenFile(cleanedName(cfg, base, suffix), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
}

// add appends a batch.
func (o *output) add(raw []byte, h *record.BatchHeader) error {
	b := index.Batch{Position: o.facts.Size, LastOffset: h.LastOffset(), MaxTimestamp: h.MaxTimestamp}
	if o.index.Offsets.Full() || o.index.Times.Full() {
		o.index.Observe(b) // a full index leaves the rest to the scan
	} else if err := o.index.Add(b); err != nil {
		return err
	}
	if o.facts.Size == 0 {
		o.facts.FirstTime = h.MaxTimestamp
	}
	o.facts.Size, o.facts.Next = o.facts.Size+int64(len(raw)), h.NextOffset()
	o.buf = append(o.buf, raw...)
	if len(o.buf) >= writeBytes {
		return o.flush()
	}
	return nil
}

func (o *output) flush() error {
	_, _ = o.sum.Write(o.buf)
	_, err := o.log.WriteAt(o.buf, o.written)
	o.written, o.buf = o.written+int64(len(o.buf)), o.buf[:0]
	return err
}

// abort notes an aborted transaction of which data was seen.
func (o *output) abort(a index.AbortedTxn) { o.txns = index.AppendTxn(o.txns, a) }

// finish makes the files whole and durable, with the modification time of what
// they replace, and tells their suffixes.
func (o *output) finish(modified time.Time) (suffixes []string, err error) {
	if err := o.flush(); err != nil {
		return nil, err
	}
	if err := o.index.Close(); err != nil {
		return nil, err
	}
	m := o.index.Max()
	o.facts.IndexBytes, o.facts.TimeBytes = o.index.Offsets.Bytes(), o.index.Times.Bytes()
	o.facts.MaxTime, o.facts.MaxTimeAt = m.Timestamp, m.Offset
	o.facts.Seal, o.facts.HasSeal = o.sum.Sum64(), true
	if err := errors.Join(o.log.Sync(), o.close()); err != nil {
		return nil, err
	}
	suffixes = []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix}
	contents := [][]byte{nil, o.index.Offsets.Content(), o.index.Times.Content()}
	if len(o.txns) > 0 {
		suffixes, contents = append(suffixes, segment.TxnIndexSuffix), append(contents, o.txns)
	}
	for i, suffix := range suffixes {
		if i > 0 {
			if err := o.writeBeside(suffix, contents[i]); err != nil {
				return nil, err
			}
		}
		if err := o.cfg.FS.SetModTime(cleanedName(o.cfg, o.facts.Base, suffix), modified); err != nil {
			return nil, err
		}
	}
	return suffixes, o.cfg.FS.SyncDir(o.cfg.Dir)
}

func (o *output) writeBeside(suffix string, content []byte) (err error) {
	f, err := create(o.cfg, o.facts.Base, suffix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(content, 0); err != nil {
		return err
	}
	return f.Sync()
}

// close lets go of the log; its files stay.
func (o *output) close() error {
	if o.log == nil {
		return nil
	}
	f := o.log
	o.log = nil
	return f.Close()
}
