package log

import (
	"errors"
	"fmt"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

var (
	// ErrTrimmed says that an offset is below the log start offset: dropped.
	ErrTrimmed = errors.New("log: the offset is below the log start offset")
	// ErrBeyond says that an offset is above the log end offset or, where that
	// bounds what may be done, above the high watermark: OffsetError.End.
	ErrBeyond = errors.New("log: the offset is beyond the end")
	// ErrNoRecord says that an offset in the log holds no record: compaction
	// took it, or it is a transaction's marker.
	ErrNoRecord = errors.New("log: no record at this offset")
	// ErrClosed says that the log was closed.
	ErrClosed = errors.New("log: closed")
	// ErrReadOnly says that a log opened ReadOnly was to be changed.
	ErrReadOnly = errors.New("log: opened read-only")
	// ErrFailed says that a sync or a write to the log's memory failed earlier.
	// What was appended since the last sync may be lost to a power cut though
	// it can be read, so the log takes no more until it is opened again.
	ErrFailed = errors.New("log: failed, open it again")
	// ErrLocked says that another process has the log open for writing; the
	// error names its pid.
	ErrLocked = vfs.ErrLocked
)

// ErrTimestamp says that a client's record has a time that Options.TimeBefore or
// TimeAfter does not allow (INVALID_TIMESTAMP).
var ErrTimestamp = errors.New("log: a record's time is out of bounds")

// DamageError says where bytes on disk are not what was written.
type DamageError = segment.DamageError

// OffsetError is how ErrTrimmed, ErrBeyond and ErrNoRecord come: with the
// offset asked for and the range there is.
type OffsetError struct {
	Offset     int64
	First, End int64
	Err        error
}

func (e *OffsetError) Error() string {
	return fmt.Sprintf("%v: offset %d, the log has [%d, %d)", e.Err, e.Offset, e.First, e.End)
}

func (e *OffsetError) Unwrap() error { return e.Err }

func (l *Log) offsetError(offset int64, err error) error {
	return &OffsetError{Offset: offset, First: l.First(), End: l.End(), Err: err}
}
