package broker

import (
	"sync"

	"github.com/seglog/seglog/record"
)

var (
	builders = sync.Pool{New: func() any { return new(record.Builder) }}
	decoders = sync.Pool{New: func() any { return new(record.Decoder) }}
)

// recompressed makes of a producer's batch one in the topic's codec
// (compression.type), with all else the same. The Builder is to be built, and
// given back to the pool.
func (c *topicConfig) recompressed(raw []byte) (_ *record.Builder, err error) {
	batch, err := record.Parse(raw)
	if err != nil {
		return nil, err
	}
	d, b := decoders.Get().(*record.Decoder), builders.Get().(*record.Builder)
	defer decoders.Put(d)
	defer func() {
		if err != nil {
			builders.Put(b)
		}
	}()
	o := record.BatchOptions{Codec: c.codec, LeaderEpoch: batch.LeaderEpoch, Transactional: batch.Transactional(), Control: batch.Control()}
	if batch.ProducerID >= 0 {
		o.Producer = &record.Producer{ID: batch.ProducerID, Epoch: batch.ProducerEpoch, Sequence: batch.BaseSequence}
	}
	b.Reset(o)
	own := batch
	own.Attributes &^= appendTimeBit // the records' own times: the log sets its own
	if err := d.Reset(own); err != nil {
		return nil, err
	}
	var r record.Record
	next, n := batch.BaseOffset, int32(0)
	for {
		ok, err := d.Next(&r)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if r.Offset != next {
			return nil, gap(r.Offset, next)
		}
		if err := b.Add(&r); err != nil {
			return nil, err
		}
		next, n = next+1, n+1
	}
	return b, countsMatch(&batch.BatchHeader, n)
}

// inflates says whether a batch stays within max.decompressed.message.bytes, where
// that is less than what the log takes.
func (c *topicConfig) inflates(raw []byte) error {
	batch, err := record.Parse(raw)
	if err != nil {
		return err
	}
	d := record.Decoder{MaxBytes: int(c.maxDecompressed)} // not the pool's, which have no limit of their own
	_, err = d.Payload(batch)
	return err
}

// appendTimeBit is the attribute that gives all records the batch's time.
const appendTimeBit = 1 << 3
