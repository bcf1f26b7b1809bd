package kafka

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/internal/apache"
	"github.com/seglog/seglog/producer"
	"github.com/seglog/seglog/producer/kafkasink"
	"github.com/seglog/seglog/record"
)

var (
	produceCount  = flag.Int("produce", 20_000, "how many records TestProducerThroughKill sends")
	producerSpeed = flag.Int("producer-speed", 0, "compare the speed of package producer, kgo and kafka-producer-perf-test, so many times each")
)

// TestProducerThroughKill: what package producer sends while Kafka's broker is
// killed and started again is there once, in the order of each partition, and all
// of it is acknowledged, as Kafka's own consumer reads it.
func TestProducerThroughKill(t *testing.T) {
	needsKafka(t)
	run.broker.start(t)
	const topic, partitions = "ours-through-kill", 3
	run.judge.tool(t, apache.Topics, "--bootstrap-server", run.broker.Addr(), "--create", "--topic", topic, "--partitions", strconv.Itoa(partitions))

	sink, err := kafkasink.New(kgo.SeedBrokers(run.broker.Addr()))
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
	run.broker.Kill()
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

	cmd := run.judge.Command(ctx, apache.ConsoleConsumer, "--bootstrap-server", run.broker.Addr(), "--topic", topic, "--from-beginning",
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

// TestProducerSpeed times three producers that send the same number of records of
// 100 B to one partition of Kafka's broker, which has all of them as acks=all
// means: package producer, kgo and kafka-producer-perf-test, in turns. The tool
// says its own time, without that of its start.
func TestProducerSpeed(t *testing.T) {
	if *producerSpeed == 0 {
		t.Skip("only with -producer-speed N")
	}
	needsKafka(t)
	perf := run.judge
	perf.JVM = dumpJVM
	run.broker.start(t)
	const records, size = 2_000_000, 100
	value := bytes.Repeat([]byte("seglog and "), size)[:size]
	sides := []*struct {
		name string
		send func(topic string) time.Duration
		took []time.Duration
	}{
		{name: "producer", send: func(topic string) time.Duration { return sendOurs(t, topic, records, value) }},
		{name: "kgo", send: func(topic string) time.Duration { return sendKgo(t, topic, records, value) }},
		{name: "kafka-producer-perf-test", send: func(topic string) time.Duration { return sendPerf(t, perf, topic, records, size) }},
	}
	for round := range *producerSpeed + 1 { // the first warms the broker
		for i, side := range sides {
			topic := fmt.Sprintf("speed-%d-%d", round, i)
			createTopics(t, map[string]map[string]string{topic: {"retention.ms": "-1"}})
			if took := side.send(topic); round > 0 {
				side.took = append(side.took, took)
			}
		}
	}
	for _, side := range sides {
		m := median(side.took)
		t.Logf("%-26s median of %d: %.0f records/s, %.2f of ours; %v", side.name, len(side.took), records/m.Seconds(),
			median(sides[0].took).Seconds()/m.Seconds(), side.took)
	}
}

func sendOurs(t *testing.T, topic string, n int, value []byte) time.Duration {
	sink, err := kafkasink.New(kgo.SeedBrokers(run.broker.Addr()))
	require.NoError(t, err)
	defer sink.Close()
	var failed atomic.Int64
	p, err := producer.New(sink, producer.Options{BatchBytes: producedBatch, Linger: producedLinger, BufferBytes: producedBuffer,
		Trace: producer.Trace{Done: func(e producer.DoneEvent) {
			if e.Err != nil {
				failed.Add(1)
			}
		}}})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), toolTime)
	defer cancel()
	began := time.Now()
	for range n {
		p.Send(ctx, producer.Record{Topic: topic, Value: value})
	}
	require.NoError(t, p.Flush(ctx))
	took := time.Since(began)
	require.Zero(t, failed.Load())
	require.NoError(t, p.Close(ctx))
	return took
}

// The three have these settings of Kafka's: batch.size, linger.ms, buffer.memory.
const (
	producedBatch  = 64 << 10
	producedLinger = 5 * time.Millisecond
	producedBuffer = 32 << 20
)

func sendKgo(t *testing.T, topic string, n int, value []byte) time.Duration {
	c, err := kgo.NewClient(kgo.SeedBrokers(run.broker.Addr()), kgo.ProducerBatchMaxBytes(producedBatch), kgo.ProducerLinger(producedLinger),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedBytes(producedBuffer), kgo.MaxBufferedRecords(producedBuffer/100))
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), toolTime)
	defer cancel()
	var failed atomic.Int64
	began := time.Now()
	for range n {
		c.Produce(ctx, &kgo.Record{Topic: topic, Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
			}
		})
	}
	require.NoError(t, c.Flush(ctx))
	took := time.Since(began)
	require.Zero(t, failed.Load())
	return took
}

// perfSaid is the last line of the tool.
var perfSaid = regexp.MustCompile(`(?m)^(\d+) records sent, ([0-9.]+) records/sec`)

func sendPerf(t *testing.T, perf judge, topic string, n, size int) time.Duration {
	out, _ := perf.tool(t, apache.ProducerPerf, "--bootstrap-server", run.broker.Addr(), "--topic", topic, "--num-records", strconv.Itoa(n),
		"--record-size", strconv.Itoa(size), "--throughput", "-1", "--command-property", "acks=all",
		"--command-property", "batch.size="+strconv.Itoa(producedBatch), "--command-property", "linger.ms=5")
	var rate float64
	for _, m := range perfSaid.FindAllStringSubmatch(out, -1) {
		if m[1] == strconv.Itoa(n) {
			var err error
			rate, err = strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)
		}
	}
	require.Positive(t, rate, out)
	return time.Duration(float64(n) / rate * float64(time.Second))
}
