package broker

import (
	"context"
	"errors"
	"runtime"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// Produce appends records to a partition as one batch and returns the offset of
// the first. When it returns they survive the end of the process; what survives a
// loss of power is told by flush.messages and flush.ms. The records' bytes are
// copied.
func (b *Broker) Produce(ctx context.Context, topic string, partition int32, records ...record.Record) (first int64, err error) {
	p, err := b.Partition(topic, partition)
	if err != nil {
		return -1, err
	}
	first, err = p.produce(ctx, records)
	var bytes int64
	for i := range records {
		bytes += int64(len(records[i].Key) + len(records[i].Value))
	}
	p.topic.traffic.produced(int64(len(records)), bytes, err)
	return first, err
}

func (p *Partition) produce(ctx context.Context, records []record.Record) (first int64, err error) {
	l, err := p.Log()
	if err != nil {
		return -1, err
	}
	first, err = l.Append(records...)
	switch {
	case errors.Is(err, record.ErrTooLarge):
		return -1, failf(kerr.MessageTooLarge, "%v", err)
	case errors.Is(err, record.ErrInvalid):
		return -1, failf(kerr.InvalidRecord, "%v", err)
	case err != nil:
		return -1, storageError(err)
	}
	return first, p.appended(ctx, l, int64(len(records)))
}

// Append appends a producer's encoded records, as a produce request has them:
// one batch. raw is copied into the log, but first changed in place. What it
// returns on success is never an error of flush.messages alone.
//
// Errors are those Kafka answers: INVALID_RECORD, CORRUPT_MESSAGE,
// MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_TIMESTAMP,
// OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE,
// UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR, and UNKNOWN_SERVER_ERROR for
// what cannot be decompressed.
func (p *Partition) Append(ctx context.Context, raw []byte) (log.Appended, error) {
	a, err := p.append(ctx, raw)
	if err == nil && a.Duplicate {
		p.topic.traffic.produced(0, 0, nil)
	} else {
		p.topic.traffic.produced(a.Last-a.First+1, int64(len(raw)), err)
	}
	return a, err
}

// OneBatch holds what a produce request has for a partition to what it must be
// whatever the partition: one batch. It is an error of Append otherwise.
func OneBatch(raw []byte) error {
	_, _, err := oneBatch(raw)
	return err
}

func (p *Partition) append(ctx context.Context, raw []byte) (log.Appended, error) {
	l, err := p.Log()
	if err != nil {
		return log.Appended{}, err
	}
	c := p.topic.config.Load()
	raw, h, err := oneBatch(raw)
	switch {
	case err != nil:
		return log.Appended{}, err
	case int64(len(raw)) > c.maxMessageBytes:
		return log.Appended{}, failf(kerr.MessageTooLarge, "the batch has %d bytes, max.message.bytes is %d", len(raw), c.maxMessageBytes)
	case int64(len(raw)) > c.log.SegmentBytes:
		return log.Appended{}, failf(kerr.RecordListTooLarge, "the batch has %d bytes, segment.bytes is %d", len(raw), c.log.SegmentBytes)
	}
	if h.Codec() != record.None || c.recompress {
		defer decompressing()()
	}
	if h.Codec() != record.None && c.maxDecompressed < record.DefaultMaxBytes {
		if err := c.inflates(raw); err != nil {
			return log.Appended{}, refusal(c, raw, err)
		}
	}
	if c.recompress && h.Codec() != c.codec {
		b, err := c.recompressed(raw)
		if err != nil {
			return log.Appended{}, refusal(c, raw, err)
		}
		defer builders.Put(b)
		if raw, err = b.Build(); err != nil {
			return log.Appended{}, refusal(c, raw, err)
		}
		if int64(len(raw)) > c.maxMessageBytes {
			return log.Appended{}, failf(kerr.MessageTooLarge, "the batch has %d bytes in %s, max.message.bytes is %d", len(raw), c.codec, c.maxMessageBytes)
		}
	}
	a, err := l.AppendBatch(raw, log.FromClient)
	if err != nil {
		return log.Appended{}, refusal(c, raw, err)
	}
	if a.Duplicate {
		return a, nil
	}
	return a, p.appended(ctx, l, a.Last-a.First+1)
}

// appended is what is left to do after an append of n records.
func (p *Partition) appended(ctx context.Context, l *log.Log, n int64) error {
	p.watchers.wake()
	every := p.topic.config.Load().flushMessages
	if p.unflushed.Add(n) < every {
		return nil
	}
	p.unflushed.Store(0)
	return storageError(l.Sync(ctx))
}

// oneBatch finds the one batch that a produce request has for a partition. The
// beginning of another behind it is passed over, a whole one refused.
func oneBatch(raw []byte) ([]byte, record.BatchHeader, error) {
	h, err := record.ParseHeader(raw)
	switch {
	case errors.Is(err, record.ErrShort), errors.Is(err, record.ErrUnsupportedMagic):
		return nil, h, failf(kerr.InvalidRecord, "%v", err)
	case err != nil:
		return nil, h, corruptHeader(raw, err)
	case h.Size > len(raw):
		return nil, h, failf(kerr.InvalidRecord, "the batch has %d bytes, and %d are here", h.Size, len(raw))
	}
	switch rest, err := record.ParseHeader(enough(raw[h.Size:])); {
	case errors.Is(err, record.ErrUnsupportedMagic), err == nil && rest.Size <= len(raw)-h.Size:
		return nil, h, failf(kerr.InvalidRecord, "more than one batch")
	case err != nil && !errors.Is(err, record.ErrShort):
		return nil, h, failf(kerr.CorruptMessage, "behind the batch: %v", err)
	}
	return raw[:h.Size:h.Size], h, nil
}

// enough is what is behind a batch with so many zeros that its length can be
// looked at, where that is there.
func enough(rest []byte) []byte {
	const upToLength, upToMagic = 12, 17
	if n := len(rest); n < upToLength || n >= upToMagic {
		return rest
	}
	padded := make([]byte, upToMagic)
	copy(padded, rest)
	padded[upToMagic-1] = 2
	return padded
}

// corruptHeader tells a header whose numbers cannot be from one that is no
// header: if the checksum is right the producer meant it.
func corruptHeader(raw []byte, err error) error {
	if record.Intact(raw) {
		return &Error{Code: kerr.InvalidRecord, Detail: err.Error(), Examined: true}
	}
	return failf(kerr.CorruptMessage, "%v", err)
}

// slots bound how many batches are decompressed at a time, and so the memory
// that it takes, whatever number of connections there is.
var slots = make(chan struct{}, 2*runtime.GOMAXPROCS(0))

func decompressing() (done func()) {
	slots <- struct{}{}
	return func() { <-slots }
}
