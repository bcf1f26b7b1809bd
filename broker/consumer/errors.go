package consumer

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/group"
)

var (
	// ErrClosed says that the consumer was closed.
	ErrClosed = errors.New("consumer: closed")
	// ErrPolling says that another call which may be made one at a time is still
	// running: see the package comment.
	ErrPolling = errors.New("consumer: another Poll, Subscribe, Assign or Unsubscribe is running")
	// ErrMode says that partitions are assigned by hand and by the group at once, or
	// that neither is asked for: call Unsubscribe before changing from one to the
	// other.
	ErrMode = errors.New("consumer: Subscribe and Assign exclude each other, and one has to come first")
	// ErrNotAssigned says that a partition is not the consumer's.
	ErrNotAssigned = errors.New("consumer: the partition is not assigned")
	// ErrNoOffset says that a partition has no committed offset and Options.Reset
	// is None: Seek says where to begin.
	ErrNoOffset = errors.New("consumer: no committed offset, and no policy to reset")
	// ErrCommitFailed says that offsets were not committed since the consumer is no
	// member of the group, or no longer in its generation: the partitions may be
	// another's. The next Poll joins again.
	ErrCommitFailed = errors.New("consumer: not committed: the group has gone on without this member")
	// ErrNoGroup says that what was asked for takes a group, and New was given none.
	ErrNoGroup = errors.New("consumer: there is no group")
)

// coded is the error of a code that a group's coordinator answers: it wraps
// kerr's.
func coded(what string, code group.Code) error {
	if code == group.None {
		return nil
	}
	if err := kerr.ErrorForCode(int16(code)); err != nil {
		return fmt.Errorf("consumer: %s: %w", what, err)
	}
	return fmt.Errorf("consumer: %s: %v", what, code)
}

// codeOf is the code of an error of the broker.
func codeOf(err error) group.Code {
	var known *kerr.Error
	switch {
	case err == nil:
		return group.None
	case errors.As(err, &known):
		return group.Code(known.Code)
	}
	return group.UnknownServerError
}

// passing says that a code is of a coordinator that is to be asked again.
func passing(code group.Code) bool {
	switch code {
	case group.CoordinatorLoadInProgress, group.CoordinatorNotAvailable, group.NotCoordinator, group.UnstableOffsetCommit:
		return true
	}
	return false
}
