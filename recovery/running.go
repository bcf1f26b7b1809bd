package recovery

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

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
