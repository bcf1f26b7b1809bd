package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}

// codecs: what was produced with a codec is stored in it, and is what was produced.
func (b *bench) codecs(ctx context.Context) error {
	var unable int
	for i, codec := range codecs {
		topic := b.name + "-" + codec
		if err := b.topic(ctx, topic, 3); err != nil {
			return err
		}
		records, err := b.produced(ctx, produce{topic: topic, acks: "all", codec: codec, to: b.records})
		if errors.Is(err, errUnable) {
			unable++
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", codec, err)
		}
		for _, r := range records {
			if int(r.Attrs.CompressionType()) != i {
				return fmt.Errorf("%s: %d@%d is stored with codec %d, want %d", topic, r.Partition, r.Offset, r.Attrs.CompressionType(), i)
			}
		}
	}
	if unable == len(codecs) {
		return errUnable
	}
	return nil
}

// acks: all arrives once, acknowledged or not asked to be; of an idempotent
// producer with the id of one.
func (b *bench) acks(ctx context.Context, acks string) error {
	topic := b.name + "-acks-" + acks
	if err := b.topic(ctx, topic, 3); err != nil {
		return err
	}
	records, err := b.produced(ctx, produce{topic: topic, acks: acks, codec: "none", to: b.records})
	if err != nil {
		return err
	}
	for _, r := range records {
		if acks == "idempotent" && r.ProducerID < 0 {
			return fmt.Errorf("%s: %d@%d has no producer id", topic, r.Partition, r.Offset)
		}
	}
	return nil
}

// produced has the client produce and returns what is there then, which is each
// number once.
func (b *bench) produced(ctx context.Context, p produce) ([]*kgo.Record, error) {
	acked := make(map[int]int)
	if err := b.produce(ctx, b.addr, p, func(n int) { acked[n]++ }); err != nil {
		return nil, err
	}
	for n := p.from; n < p.to; n++ {
		if acked[n] != 1 {
			return nil, fmt.Errorf("%d was told to be acknowledged %d times", n, acked[n])
		}
	}
	// With acks 0 what is sent is not there yet.
	within, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	err := until(within, "what was produced", func() error {
		n, err := b.size(ctx, p.topic)
		if err == nil && n != p.to-p.from {
			err = fmt.Errorf("%s has %d records, want %d", p.topic, n, p.to-p.from)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	records, err := b.read(ctx, p.topic, p.to-p.from)
	if err != nil {
		return nil, err
	}
	seen := make(map[int]bool)
	for _, r := range records {
		n := number(r.Value)
		if n < p.from || n >= p.to || seen[n] || !is(b.client, r, n) {
			return nil, fmt.Errorf("%s: %d@%d is key %q, value %q: no number that was produced, or once more", p.topic, r.Partition, r.Offset, r.Key, r.Value)
		}
		seen[n] = true
	}
	return records, nil
}
