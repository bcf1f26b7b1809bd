package segment

import (
	"errors"
	"fmt"

	"github.com/seglog/seglog/record"
)

// ErrGone says that the segment was removed, truncated or closed: look the
// offset up again in the log's present set of segments.
var ErrGone = errors.New("segment: gone")

var (
	errMagic    = fmt.Errorf("%w: its magic is not 2", record.ErrCorrupt)
	errCutShort = fmt.Errorf("%w: it ends behind the file", record.ErrCorrupt)
)

// ErrNotSynced says that a sync failed, and so that what the kernel could not
// write it may have dropped: trying again could succeed for that reason.
var ErrNotSynced = errors.New("segment: sync failed")

// synced tells the error of a sync from that of opening or closing its file.
func synced(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNotSynced, err)
}

// DamageError says where a segment's bytes are not what was written: a batch
// whose checksum fails, a length that cannot be, a file cut short, a page the
// device does not deliver.
type DamageError struct {
	Path     string // the file
	Segment  int64  // base offset of the segment
	Position int64  // of the first bad byte's batch in the file
	Offset   int64  // the first offset that cannot be read
	// Next is the first offset after the damage that can be read again in this
	// segment, or -1 where none is known.
	Next         int64
	NextPosition int64 // where its batch begins in the file
	Err          error // the kind: record.ErrCorrupt, vfs.ErrFault, ...
}

func (e *DamageError) Error() string {
	after := "nothing readable follows in this segment"
	if e.Next >= 0 {
		after = fmt.Sprintf("readable again from offset %d", e.Next)
	}
	return fmt.Sprintf("damaged at position %d of %s (offset %d; %s): %v", e.Position, e.Path, e.Offset, after, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }
