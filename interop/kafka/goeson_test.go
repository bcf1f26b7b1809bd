package kafka

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// goesOn: the broker knows the idempotent producers that the engine knew. The
// last batch of each, sent again, is answered with where we put it; one that
// does not follow is refused; the next is taken.
func goesOn(t *testing.T, w *written) {
	t.Helper()
	o := w.options
	o.Mode = log.ReadOnly
	l, err := log.Open(t.Context(), w.dir, o)
	require.NoError(t, err)
	defer l.Close()
	last := map[int64][]byte{}
	for at := l.First(); at < l.End(); {
		v, err := l.Borrow(at, 1<<20)
		require.NoError(t, err)
		for b := range v.Batches() {
			if b.ProducerID >= 0 {
				last[b.ProducerID] = slices.Clone(b.Bytes())
			}
		}
		at = v.Next()
		v.Release()
	}
	require.Len(t, last, 3)
	for id, raw := range last {
		h, err := record.ParseHeader(raw)
		require.NoError(t, err)
		record.SetBaseOffset(raw, 0)
		offset, err := produceRaw(t, w.topic, raw)
		require.NoError(t, err)
		require.Equal(t, h.BaseOffset, offset, "a batch sent again")

		next := record.Record{Time: time.UnixMilli(startTime), Value: []byte("goes on")}
		p := record.Producer{ID: id, Epoch: h.ProducerEpoch, Sequence: h.LastSequence() + 3}
		_, err = produceRaw(t, w.topic, single(t, p, next))
		require.ErrorIs(t, err, kerr.OutOfOrderSequenceNumber)
		p.Sequence = h.LastSequence() + 1
		offset, err = produceRaw(t, w.topic, single(t, p, next))
		require.NoError(t, err)
		require.Equal(t, w.end, offset)
		next.Offset = offset
		w.all = append(w.all, line(next))
		w.end++
		w.stable = w.end
	}
}

func single(t *testing.T, p record.Producer, r record.Record) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{Producer: &p})
	require.NoError(t, b.Add(&r))
	raw, err := b.Build()
	require.NoError(t, err)
	return raw
}

// produceRaw sends one encoded batch.
func produceRaw(t *testing.T, topic string, raw []byte) (offset int64, err error) {
	t.Helper()
	c := client(t, kgo.MaxVersions(kversion.V3_6_0())) // topics by name
	defer c.Close()
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 10_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = raw
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	resp, err := req.RequestWith(ctx, c)
	require.NoError(t, err)
	answer := resp.Topics[0].Partitions[0]
	return answer.BaseOffset, kerr.ErrorForCode(answer.ErrorCode)
}
