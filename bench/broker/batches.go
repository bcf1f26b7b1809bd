package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/record"
)

// requestBytes is how much of records before compression is in a produce request,
// divided among its partitions; of more than maxPerRequest some are in the next.
const (
	requestBytes  = 256 << 10
	maxPerRequest = 100
)

// batch is a ready-made one.
type batch struct {
	raw     []byte
	records int64
	bytes   int64 // before compression
}

// newBatch builds one of about so many bytes of records, lines like those of an
// access log, which lz4 makes a third of.
func newBatch(size int, codec record.Codec, bytesOfRecords int) (batch, error) {
	var b record.Builder
	b.Reset(record.BatchOptions{Codec: codec, LeaderEpoch: -1})
	rng := rand.New(rand.NewPCG(1, 2))
	line := func() []byte {
		var v []byte
		for len(v) < size {
			v = fmt.Appendf(v, `10.%d.%d.%d "GET /api/v1/items/%d HTTP/1.1" 200 %d "Mozilla/5.0 (X11; Linux x86_64)" `,
				rng.IntN(256), rng.IntN(256), rng.IntN(256), rng.IntN(1e6), rng.IntN(1e5))
		}
		return v[:size]
	}
	made := batch{}
	for now := time.Now(); made.bytes < int64(bytesOfRecords); made.records++ {
		r := record.Record{Time: now, Value: line()}
		if err := b.Add(&r); err != nil {
			return batch{}, err
		}
		made.bytes += int64(size)
	}
	raw, err := b.Build()
	made.raw = bytes.Clone(raw)
	return made, err
}

// produceRequest has the batch for each of the partitions.
func produceRequest(topic string, acks int16, b batch, partitions ...int32) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, int32(patience.Milliseconds())
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	for _, number := range partitions {
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = number, b.raw
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return req
}
