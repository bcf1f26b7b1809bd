package broker

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/log"
)

// ErrClosed says that the broker was closed.
var ErrClosed = errors.New("broker: closed")

func failf(code *kerr.Error, format string, args ...any) error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Error is one of Kafka's errors with what it was about.
type Error struct {
	Code   *kerr.Error
	Detail string // for people; it does not repeat the code
	// Examined says that it is of a batch whose records or producer were looked at,
	// and not of what could be seen from outside.
	Examined bool
	// Records says which of a refused batch's records are to blame, where some are.
	Records []BadRecord
}

// BadRecord is a record that is to blame for its batch.
type BadRecord struct {
	Index  int32 // in the batch, from 0
	Detail string
}

func (e *Error) Error() string { return e.Code.Message + ": " + e.Detail }

func (e *Error) Unwrap() error { return e.Code }

// storageError is what a caller is told of an error of a partition's log that
// is not about what was asked for.
func storageError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, log.ErrClosed): // the topic is being deleted, or the broker closed: whoever asks again is told
		return failf(kerr.NotLeaderForPartition, "%v", err)
	}
	return failf(kerr.KafkaStorageError, "%v", err)
}

// StorageError is what a client is told of an error of a partition's log.
func StorageError(err error) error { return storageError(err) }
