package kafka

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/producer"
	"github.com/seglog/seglog/producer/kafkasink"
	"github.com/seglog/seglog/record"
)

var (
	produceCount = flag.Int("produce", 20_000, "how many records TestProducerThroughKill sends")
)

// TestProducerThroughKill: what package producer sends while Kafka's broker is
// killed and started again is there once, in the order of each partition, and all
// of it is acknowledged, as Kafka's own consumer reads it.
func TestProducerThroughKill(t *testing.T) {
	needsKafka(t)
	run.broker.start(t)
	const topic, partitions = "ours-through-kill", 3
	run.judge.tool(t, "topics", "--bootstrap-server", run.broker.address(), "--create", "--topic", topic, "--partitions", strconv.Itoa(partitions))

	sink, err := kafkasink.New(kgo.SeedBrokers(run.broker.address()))
	require.NoError(t, err)
	defer sink.Close()
	var retries, stored atomic.Int64
	p, err := producer.New(sink, producer.Options{
		Compression: record.LZ4,
		BufferBytes: 512 << 10, // so that most are sent after the kill
		Trace: producer.Trace{
			Retried: func(producer.RetryEvent) { retries.Add(1) },
			Done:    func(e producer.DoneEvent) { stored.Add(int64(e.Records)) },
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	n := *produceCount
	futures := make([]*producer.Future, n)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range futures {
			futures[i] = p.Send(ctx, producer.Record{Topic: topic, Partition: producer.At(int32(i % partitions)), Value: fmt.Appendf(nil, "%0100d", i)})
		}
	}()
	require.Eventually(t, func() bool { return stored.Load() >= int64(n/3) }, 2*time.Minute, time.Millisecond)
	run.broker.kill(t)
	run.broker.start(t)
	<-sent
	require.NoError(t, p.Flush(ctx))
	next := make([]int64, partitions)
	for i, f := range futures {
		d, err := f.Wait(ctx)
		require.NoError(t, err, "record %d", i)
		require.Equal(t, int32(i%partitions), d.Partition)
		if d.Stored { // else Kafka had it, but its answer was lost
			require.Equal(t, next[i%partitions], d.Offset, "record %d", i)
		}
		next[i%partitions]++
	}
	require.NoError(t, p.Close(ctx))

	cmd := run.judge.command(ctx, "console-consumer", "--bootstrap-server", run.broker.address(), "--topic", topic, "--from-beginning",
		"--formatter-property", "print.partition=true", "--formatter-property", "print.offset=true", "--timeout-ms", "5000")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	read := 0
	offsets := make([]int, partitions)
	for lines := bufio.NewScanner(out); lines.Scan(); read++ {
		var partition, offset, value int
		_, err := fmt.Sscanf(lines.Text(), "Partition:%d\tOffset:%d\t%d", &partition, &offset, &value)
		require.NoError(t, err, lines.Text())
		require.Equal(t, offsets[partition], offset)
		require.Equal(t, offset*partitions+partition, value, "partition %d, offset %d", partition, offset)
		offsets[partition]++
	}
	_ = cmd.Wait() // it ends by its time-out, which it calls an error
	require.Equal(t, n, read, "%s", errs.String())
	t.Logf("%d records, %d requests sent again", n, retries.Load())
}
