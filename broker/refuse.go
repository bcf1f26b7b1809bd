package broker

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func gap(have, want int64) error {
	return fmt.Errorf("%w: record at offset %d, want %d", record.ErrInvalid, have, want)
}

func countsMatch(h *record.BatchHeader, n int32) error {
	if n != h.Count || int64(n) != int64(h.LastOffsetDelta)+1 || h.BaseOffset != 0 || h.Control() {
		return fmt.Errorf("%w: %d records, %d by the header, at offsets from %d to %d", record.ErrInvalid, n, h.Count, h.BaseOffset, h.LastOffset())
	}
	return nil
}

// refusal is what the producer of a batch is answered that the log refused.
func refusal(c *topicConfig, raw []byte, err error) error {
	refused := refusalOf(c, raw, err)
	var own *Error
	if errors.As(refused, &own) {
		switch own.Code {
		case kerr.InvalidRecord, kerr.InvalidTimestamp, kerr.OutOfOrderSequenceNumber, kerr.InvalidProducerEpoch, kerr.InvalidTxnState,
			kerr.UnknownServerError:
			own.Examined = true
		}
	}
	return refused
}

func refusalOf(c *topicConfig, raw []byte, err error) error {
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, log.ErrOutOfOrderSequence):
		return failf(kerr.OutOfOrderSequenceNumber, "%v", err)
	case errors.Is(err, log.ErrProducerFenced):
		return failf(kerr.InvalidProducerEpoch, "%v", err)
	case errors.Is(err, log.ErrTransactionState):
		return failf(kerr.InvalidTxnState, "%v", err)
	case errors.Is(err, record.ErrTooLarge):
		return failf(kerr.MessageTooLarge, "%v", err)
	case errors.Is(err, log.ErrTimestamp):
		bad := failf(kerr.InvalidTimestamp, "%v", err).(*Error)
		bad.Records = c.badRecords(raw, c.badTime)
		return bad
	case errors.Is(err, record.ErrUnsupportedMagic):
		return failf(kerr.InvalidRecord, "%v", err)
	case errors.Is(err, record.ErrCorrupt), errors.Is(err, record.ErrInvalid):
		return c.badBatch(raw, err)
	}
	return storageError(err)
}

// badBatch tells what is wrong with a batch that is not well formed.
func (c *topicConfig) badBatch(raw []byte, err error) error {
	batch, broken := record.Parse(raw)
	if broken != nil {
		return failf(kerr.CorruptMessage, "%v", broken)
	}
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	if _, undecodable := d.Payload(batch); undecodable != nil {
		return failf(kerr.UnknownServerError, "%v", undecodable)
	}
	bad := failf(kerr.InvalidRecord, "%v", err).(*Error)
	if c.compacts {
		bad.Records = c.badRecords(raw, func(r *record.Record) string {
			if r.Key == nil {
				return "a record of a compacted topic has to have a key"
			}
			return ""
		})
	}
	return bad
}

func (c *topicConfig) badTime(r *record.Record) string {
	if r.Time.IsZero() {
		return ""
	}
	now := c.log.Env.Now
	if now == nil {
		now = systemNow
	}
	at := now()
	if c.log.TimeBefore > 0 && r.Time.UnixMilli() < at.UnixMilli()-c.log.TimeBefore.Milliseconds() {
		return "its time is further in the past than message.timestamp.before.max.ms allows"
	}
	if c.log.TimeAfter > 0 && r.Time.UnixMilli() > at.UnixMilli()+c.log.TimeAfter.Milliseconds() {
		return "its time is further in the future than message.timestamp.after.max.ms allows"
	}
	return ""
}

// badRecords lists the records of a batch that wrong says something of.
func (c *topicConfig) badRecords(raw []byte, wrong func(*record.Record) string) (bad []BadRecord) {
	batch, err := record.Parse(raw)
	if err != nil {
		return nil
	}
	batch.Attributes &^= appendTimeBit
	d := decoders.Get().(*record.Decoder)
	defer decoders.Put(d)
	index := int32(0)
	for r, err := range d.Records(batch) {
		if err != nil {
			return bad
		}
		if text := wrong(&r); text != "" {
			bad = append(bad, BadRecord{Index: index, Detail: text})
		}
		index++
	}
	return bad
}
