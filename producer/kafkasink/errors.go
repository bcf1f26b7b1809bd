package kafkasink

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/producer"
)

// kinds are the codes that ask more of a producer than to retry or to fail.
var kinds = map[int16]error{
	kerr.NotLeaderForPartition.Code:    producer.ErrNotLeader,
	kerr.UnknownTopicOrPartition.Code:  producer.ErrNotLeader,
	kerr.UnknownTopicID.Code:           producer.ErrNotLeader,
	kerr.InconsistentTopicID.Code:      producer.ErrNotLeader,
	kerr.LeaderNotAvailable.Code:       producer.ErrNotLeader,
	kerr.KafkaStorageError.Code:        producer.ErrNotLeader,
	kerr.MessageTooLarge.Code:          producer.ErrMessageTooLarge,
	kerr.RecordListTooLarge.Code:       producer.ErrMessageTooLarge,
	kerr.DuplicateSequenceNumber.Code:  producer.ErrDuplicateSequence,
	kerr.OutOfOrderSequenceNumber.Code: producer.ErrOutOfOrderSequence,
	kerr.UnknownProducerID.Code:        producer.ErrUnknownProducerID,
	kerr.InvalidProducerEpoch.Code:     producer.ErrFenced,
	kerr.ProducerFenced.Code:           producer.ErrFenced,
}

// coded is an error code of Kafka, with the broker's words if it has some.
func coded(code int16, message *string) error {
	if code == 0 {
		return nil
	}
	err := kerr.ErrorForCode(code)
	if message != nil && *message != "" {
		err = fmt.Errorf("%w: %s", err, *message)
	}
	if kind, ok := kinds[code]; ok {
		return fmt.Errorf("%w: %w", kind, err)
	}
	if kerr.IsRetriable(err) {
		return fmt.Errorf("%w: %w", producer.ErrUnavailable, err)
	}
	return err
}

// broken is an error of the way there or back.
func broken(err error) error { return fmt.Errorf("%w: %w", producer.ErrUnavailable, err) }
