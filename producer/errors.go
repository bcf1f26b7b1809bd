package producer

import (
	"context"
	"errors"
	"fmt"
)

// What a record can fail with. Match with errors.Is.
var (
	// ErrClosed says that the producer was closed before the record was
	// acknowledged.
	ErrClosed = errors.New("producer: closed")
	// ErrTimeout says that the record was not acknowledged within
	// DeliveryTimeout. It may have been stored if it was sent.
	ErrTimeout = errors.New("producer: delivery timed out")
	// ErrExhausted says that BufferBytes were in use for all of MaxBlock.
	ErrExhausted = errors.New("producer: buffer memory exhausted")
	// ErrMetadata says that nothing was learnt of the topic within MaxBlock.
	ErrMetadata = errors.New("producer: no metadata")
	// ErrTooLarge says that a record is larger than MaxRequestBytes or
	// BufferBytes allow, or that the sink refused its batch as too large and
	// there was nothing to split.
	ErrTooLarge = errors.New("producer: too large")
	// ErrInvalid says that a record can go nowhere: no topic, a partition
	// that does not exist.
	ErrInvalid = errors.New("producer: invalid record")
)

// What a Sink answers with, wrapped or not, where the producer has to do more
// than retry or fail. Names are those of Kafka's error codes.
var (
	// ErrNotLeader: the partition is led by another node. Retried after a
	// look at the metadata.
	ErrNotLeader = errors.New("producer: not the partition's leader")
	// ErrUnavailable: nothing wrong with the batch; it is retried. Time-outs
	// and broken connections are this.
	ErrUnavailable = errors.New("producer: unavailable")
	// ErrMessageTooLarge: the batch is larger than the sink takes. It is
	// split.
	ErrMessageTooLarge = errors.New("producer: message too large")
	// ErrDuplicateSequence: the batch was stored before, which is a success.
	ErrDuplicateSequence = errors.New("producer: duplicate sequence number")
	// ErrOutOfOrderSequence: batches before this one are missing.
	ErrOutOfOrderSequence = errors.New("producer: out of order sequence number")
	// ErrUnknownProducerID: the log knows nothing of the producer. What may
	// have been stored before that fails with it, since it cannot be sent
	// again without the risk of a second copy.
	ErrUnknownProducerID = errors.New("producer: unknown producer id")
	// ErrFenced: a producer of the same id and a later epoch has written.
	ErrFenced = errors.New("producer: invalid producer epoch")
)

// retriable says whether the same batch may be accepted later. An error with a
// method Retriable() bool answers for itself.
func retriable(err error) bool {
	var r interface{ Retriable() bool }
	switch {
	case errors.Is(err, ErrNotLeader), errors.Is(err, ErrUnavailable):
		return true
	case errors.As(err, &r):
		return r.Retriable()
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// doubtful says whether a batch may have been stored in spite of the error.
func doubtful(err error) bool {
	for _, refusal := range []error{ErrNotLeader, ErrMessageTooLarge, ErrOutOfOrderSequence, ErrUnknownProducerID, ErrFenced} {
		if errors.Is(err, refusal) {
			return false
		}
	}
	return true
}

func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}
