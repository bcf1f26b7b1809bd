package record

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// build encodes and parses a batch.
func build(tb testing.TB, o BatchOptions, rs ...Record) Batch {
	tb.Helper()
	var b Builder
	b.Reset(o)
	for i := range rs {
		require.NoError(tb, b.Add(&rs[i]))
	}
	raw, err := b.Build()
	require.NoError(tb, err)
	batch, err := Parse(raw)
	require.NoError(tb, err)
	return batch
}

// readAllRecords returns copies of the records of b.
func readAllRecords(tb testing.TB, b Batch) []Record {
	tb.Helper()
	var d Decoder
	var rs []Record
	for r, err := range d.Records(b) {
		require.NoError(tb, err)
		rs = append(rs, clone(r))
	}
	return rs
}

func clone(r Record) Record {
	r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	r.Headers = slices.Clone(r.Headers)
	for i := range r.Headers {
		r.Headers[i].Value = bytes.Clone(r.Headers[i].Value)
	}
	return r
}

// optionsOf gives the options that rebuild b.
func optionsOf(b Batch) BatchOptions {
	o := BatchOptions{
		BaseOffset:    b.BaseOffset,
		LeaderEpoch:   b.LeaderEpoch,
		Codec:         b.Codec(),
		TimestampType: b.TimestampType(),
		Transactional: b.Transactional(),
		Control:       b.Control(),
		MaxBytes:      MaxBatchSize,
	}
	if b.TimestampType() == LogAppendTime {
		o.AppendTime = fromMillis(b.MaxTimestamp)
	}
	if b.ProducerID >= 0 {
		o.Producer = &Producer{ID: b.ProducerID, Epoch: b.ProducerEpoch, Sequence: b.BaseSequence}
	}
	return o
}

// rebuild builds b again from its records, if a Builder makes such batches:
// not those that compaction has thinned or that are compressed by some other
// encoder.
func rebuild(tb testing.TB, b Batch) ([]byte, bool) {
	_, horizon := b.DeleteHorizon()
	if b.Count == 0 || b.Count != b.LastOffsetDelta+1 || horizon || b.Codec() != None {
		return nil, false
	}
	if b.ProducerID < 0 && b.BaseSequence >= 0 {
		return nil, false // a sequence of nobody: Kafka's group coordinator writes these
	}
	rs := readAllRecords(tb, b)
	var bld Builder
	bld.Reset(optionsOf(b))
	for i := range rs {
		if err := bld.Add(&rs[i]); err != nil {
			require.ErrorIs(tb, err, ErrInvalid) // a time before 1970
			return nil, false
		}
	}
	raw, err := bld.Build()
	if err != nil {
		require.ErrorIs(tb, err, ErrInvalid)
		return nil, false
	}
	return raw, true
}

// at is a time of n milliseconds.
func at(n int64) time.Time { return time.UnixMilli(n).UTC() }

// assemble makes a batch of a header and a payload, whatever they are.
func assemble(h BatchHeader, payload []byte) []byte {
	raw := append(make([]byte, HeaderSize), payload...)
	h.Size = len(raw)
	h.put(raw)
	return raw
}
