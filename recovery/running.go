package recovery

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// As long as the machine has been running since a log was last opened for
// writing, whatever was appended is in the files, synced or not, however the
// process ended. Nothing can be torn then but the one batch that it was just
// copying, and that is told by its length, which is stored last.

// isUnfinished says whether a batch stands at position of which the length was
// not stored yet.
func isUnfinished(log []byte, position int64) bool {
	const lengthAt, behind = 8, 12
	b := log[position:]
	if len(b) < behind || binary.BigEndian.Uint32(b[lengthAt:]) != 0 {
		return false
	}
	// What was one flipped bit away from zero is followed by others.
	return !segment.Followed(log, position)
}

// readIndex keeps the offset index of the newest segment as it is before its log is
// looked at: bytes of the log are stored before the entries that lead to them.
func (in *inspector) readIndex(base int64) error {
	name, ok := in.files[segment.Name(base, segment.IndexSuffix)]
	in.indexed = nil
	if !ok || !in.running {
		return nil
	}
	content, err := vfs.ReadFile(in.cfg.FS, filepath.Join(in.cfg.Dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	in.indexed = content
	return err
}

// endsTrue says that the indexes of a segment that was sealed are whole: the machine has
// been running since, and their last entries are what a roll does last. Each entry was
// stored behind the batch that it leads to, and like all others it is held against that
// when it is followed.
func (in *inspector) endsTrue(f segment.Facts) (whole bool, err error) {
	if !in.running {
		return false, nil
	}
	defer vfs.Unguard(vfs.Guard(), &err)
	file := func(suffix string) string {
		return filepath.Join(in.cfg.Dir, in.files[segment.Name(f.Base, suffix)])
	}
	offsets, err := lastEntry(in.cfg.FS, file(segment.IndexSuffix), index.OffsetEntrySize)
	if err != nil || offsets == nil {
		return false, err
	}
	times, err := lastEntry(in.cfg.FS, file(segment.TimeIndexSuffix), index.TimeEntrySize)
	if err != nil || times == nil {
		return false, err
	}
	if index.NewTimes(f.Base, times, 1).Last() != (index.TimeEntry{Timestamp: f.MaxTime, Offset: f.MaxTimeAt}) {
		return false, nil
	}
	e := index.NewOffsets(f.Base, offsets, 1).Last()
	if e.Position < 0 || e.Position > f.Size-record.HeaderSize || e.Offset >= f.Next {
		return false, nil
	}
	log, err := in.cfg.FS.OpenFile(file(segment.LogSuffix), os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer log.Close()
	b := make([]byte, record.HeaderSize)
	if err := vfs.ReadFull(log, b, e.Position); err != nil {
		return false, err
	}
	h, err := record.ParseHeader(b)
	return err == nil && h.LastOffset() == e.Offset, nil
}

// lastEntry is the last entry of an index file, nil of an empty one.
func lastEntry(fs vfs.FS, name string, size int64) ([]byte, error) {
	file, err := fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	end, err := file.Size()
	if err != nil || end < size {
		return nil, err
	}
	e := make([]byte, size)
	return e, vfs.ReadFull(file, e, end-size)
}

// indexedBehind is an error if the offset index of the newest segment knows of
// batches behind the last one that is there. One entry may be what is wrong; a
// log whose end is gone leaves several.
func (in *inspector) indexedBehind(s *scanned) error {
	const several = 2
	o := index.NewOffsets(s.facts.Base, in.indexed, len(in.indexed)/index.OffsetEntrySize)
	behind, last := 0, index.OffsetEntry{Offset: s.facts.Next - 1, Position: s.facts.Size - 1}
	for i := range o.Len() {
		if e := o.At(i); e.Offset > last.Offset && e.Position > last.Position && e.Position < s.fileEnd {
			behind, last = behind+1, e
		}
	}
	if behind < several {
		return nil
	}
	s.indexedEnd = last.Offset + 1
	return fmt.Errorf("%w: no batch, where %d entries of the offset index lead, the last to offset %d at position %d",
		record.ErrCorrupt, behind, last.Offset, last.Position)
}

// canWait says of what Apply is about to do that nothing hangs on its being durable: the
// log's next sync makes it so, and who opens after a power cut before that finds what was
// there, or less of the one batch that never was.
//
// Names come first if anything was begun for the sake of them: a segment that is not
// known yet in the place of others, a log start that the oldest segment does not show.
func (r *Report) canWait() bool {
	last := len(r.Segments) - 1
	if !r.Running || r.Dropping() || len(r.Damage) > 0 || last < 0 || r.Checkpoint.LogStart > r.Segments[0].Base {
		return false
	}
	known := make(map[int64]int64, len(r.Checkpoint.Segments))
	for _, f := range r.Checkpoint.Segments {
		known[f.Base] = f.Size
	}
	for _, s := range r.Segments[:last] {
		if size, ok := known[s.Base]; s.Next <= r.RecoveryPoint && (!ok || size != s.Size) {
			return false
		}
	}
	for _, a := range r.Actions {
		half := a.Kind == Remove && strings.HasSuffix(a.Name, vfs.TempSuffix)
		end := a.Kind == Cut && a.Segment == r.Segments[last].Base
		if !half && !end {
			return false
		}
	}
	return true
}

// applyUnsynced does what can wait.
func applyUnsynced(cfg *segment.Config, r *Report) error {
	kept := false
	for _, a := range r.Actions {
		if err := apply(cfg, r, a, false); err != nil {
			return fmt.Errorf("recovery: %s: %w", a, err)
		}
		kept = kept || a.To != ""
	}
	if !kept {
		return nil
	}
	return pruneKept(cfg.FS, cfg.Dir)
}
