package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const produceHelp = `Produce sends every line of its input to TOPIC of a broker that runs, seglog's or
Kafka's, as a record, and waits until the broker has acknowledged all. The flags are
kcat's. Of a FILE all of it is one record, or with --lines each of its lines.

With --key-delimiter a line is split at the first one into key and value; one without
has no key (null). The records of a key go to the same partition, as with Kafka's
producer; those without go wherever there is room.

What is sent is idempotent: the broker stores it once and in order, however often it
has to be sent. That takes --acks all. With --acks 1 or 0 it may be lost or be there
twice, and with 0 the broker acknowledges nothing.

The topic has to exist, or be made by --create: a name that is misspelt makes none.

Exit codes: 0 all is acknowledged; 1 something is not: how many records are, and what
the first one is that is not, is told on stderr, and no more is read. What timed out
may have been stored all the same. ^C or SIGTERM sends what was read, within 10s; a
line that has not ended is no record then.`

type produceFlags struct {
	partition    int32
	key          string
	keyDelimiter string
	delimiter    string
	headers      []string
	compression  choice
	acks         choice
	null         bool
	lines        bool
	count        int64
	create       bool
	linger       time.Duration
	timeout      time.Duration
	batchBytes   size
	quiet        bool
}

func newProduce() *cobra.Command {
	f := produceFlags{
		compression: choice{"none", []string{"none", "gzip", "snappy", "lz4", "zstd"}},
		acks:        choice{"all", []string{"all", "1", "0"}},
		batchBytes:  1 << 20,
	}
	cmd := &cobra.Command{
		Use:     "produce TOPIC [FILE...]",
		Short:   "Send lines to a topic of a broker",
		Long:    produceHelp,
		Example: "  seq 1000000 | seglog produce numbers --create\n  seglog produce orders -K : -z zstd <pairs.txt\n  echo order-7: | seglog produce orders -K : -Z   # a tombstone",
		Args:    cobra.MinimumNArgs(1),
	}
	flags := cmd.Flags()
	broker := brokerFlag(flags)
	flags.Int32VarP(&f.partition, "partition", "p", -1, "send to this partition; -1 chooses by the key")
	flags.StringVarP(&f.key, "key", "k", "", "the key of all records")
	flags.StringVarP(&f.keyDelimiter, "key-delimiter", "K", "", "split lines into key and value at the first of these (\\t is a tab)")
	flags.StringVarP(&f.delimiter, "delimiter", "D", `\n`, "what is between records")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "a header of all records, as `name=value`, or name alone for null; may be given more than once")
	flags.VarP(&f.compression, "compression", "z", "codec of the batches")
	flags.VarP(&f.acks, "acks", "a", "whose acknowledgement is waited for: all replicas in sync, the leader (1), or nobody (0)")
	flags.BoolVarP(&f.null, "null", "Z", false, "empty values and keys are null: of a compacted topic that is a tombstone")
	flags.BoolVarP(&f.lines, "lines", "l", false, "each line of a FILE is a record")
	flags.Int64VarP(&f.count, "count", "c", 0, "stop after this many records; 0 is all there are")
	flags.BoolVar(&f.create, "create", false, "create the topic with the broker's defaults if there is none")
	flags.DurationVar(&f.linger, "linger", 5*time.Millisecond, "how long a batch waits for more records at most (linger.ms)")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "give up what is not acknowledged for this long (delivery.timeout.ms)")
	flags.Var(&f.batchBytes, "batch-bytes", "most bytes of a batch before compression, and so of a record; the topic's max.message.bytes has to allow it")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no summary at the end")
	cmd.MarkFlagsMutuallyExclusive("key", "key-delimiter")
	cmd.RunE = runs(func(cmd *cobra.Command, args []string) error {
		return f.run(cmd, *broker, args[0], args[1:])
	})
	return cmd
}

func (f *produceFlags) run(cmd *cobra.Command, broker, topic string, files []string) error {
	s := &sender{topic: topic, partition: f.partition, null: f.null, left: f.count, most: int(f.batchBytes), timeout: f.timeout, failed: make(chan struct{})}
	if err := f.parse(cmd, s, len(files)); err != nil {
		return err
	}
	ctx := cmd.Context()
	c, err := connect(ctx, broker, f.options()...)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := f.checkTopic(ctx, c, topic); err != nil {
		return whyFailed(ctx, err)
	}
	s.client = c.Client
	began := time.Now()
	err = s.sendAll(ctx, f.inputs(cmd, files))
	if !f.quiet {
		f.summary(cmd.ErrOrStderr(), s, time.Since(began))
	}
	return err
}

// parse reads the flags into the sender.
func (f *produceFlags) parse(cmd *cobra.Command, s *sender, files int) error {
	keyDelimiter, err := parseSeparator(f.keyDelimiter)
	if err != nil {
		return err
	}
	delimiter, err := parseSeparator(f.delimiter)
	if err != nil {
		return err
	}
	const mostBatch = 100 << 20 // socket.request.max.bytes
	switch {
	case delimiter == "":
		return usagef("--delimiter wants a character or more")
	case f.linger < 0 || f.timeout < time.Second:
		return usagef("--linger wants 0 or more time, --timeout 1s or more")
	case f.count < 0:
		return usagef("--count wants 0 or more records")
	case f.partition < -1:
		return usagef("--partition wants the number of one, or -1")
	case f.batchBytes < 1024 || f.batchBytes > mostBatch:
		return usagef("--batch-bytes %s is out of range; choose 1KiB to %s", f.batchBytes.String(), formatSize(mostBatch))
	case f.lines && files == 0:
		return usagef("--lines is about files: name one; without any stdin is read by lines")
	}
	s.keyDelimiter, s.delimiter = []byte(keyDelimiter), []byte(delimiter)
	if cmd.Flags().Changed("key") && !(f.null && f.key == "") {
		s.key = []byte(f.key)
	}
	s.headers, err = parseHeaders(f.headers)
	return err
}

func (f *produceFlags) options() []kgo.Opt {
	options := []kgo.Opt{kgo.ProducerLinger(f.linger), kgo.RecordDeliveryTimeout(f.timeout), kgo.ProducerBatchMaxBytes(int32(f.batchBytes)),
		kgo.ProducerBatchCompression(codecOf(f.compression.value)),
		// What Kafka's producer holds (buffer.memory). Who reads waits then.
		kgo.MaxBufferedBytes(max(32<<20, 2*int(f.batchBytes))), kgo.MaxBufferedRecords(100_000)}
	if f.partition >= 0 {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	switch f.acks.value {
	case "1":
		return append(options, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	case "0":
		return append(options, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	}
	// A record that is given up is not sent again by anybody, so that no sequence
	// number has to wait for what becomes of it.
	return append(options, kgo.AllowIdempotentProduceCancellation())
}

func codecOf(name string) kgo.CompressionCodec {
	switch name {
	case "gzip":
		return kgo.GzipCompression()
	case "snappy":
		return kgo.SnappyCompression()
	case "lz4":
		return kgo.Lz4Compression()
	case "zstd":
		return kgo.ZstdCompression()
	}
	return kgo.NoCompression()
}

// checkTopic makes sure that the topic and the partition are there, and that
// their leaders can be reached.
func (f *produceFlags) checkTopic(ctx context.Context, c cluster, topic string) error {
	topics, err := c.metadata(ctx, []string{topic})
	if f.create && errors.As(err, new(unknownTopic)) {
		if err := c.createTopic(ctx, topic); err != nil {
			return err
		}
		topics, err = c.appears(ctx, topic)
	}
	if err != nil {
		return err
	}
	if err := hasPartition(topics[0], f.partition); err != nil {
		return err
	}
	var leaders []int32
	for _, p := range topics[0].Partitions {
		if p.Leader >= 0 {
			leaders = append(leaders, p.Leader)
		}
	}
	return c.EnsureProduceConnectionIsOpen(ctx, leaders...) // else that fails only when --timeout is over
}

// appears waits for a topic that was created: brokers learn of it a little later.
func (c cluster) appears(ctx context.Context, topic string) ([]kmsg.MetadataResponseTopic, error) {
	ctx, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	for {
		topics, err := c.metadata(ctx, []string{topic})
		if !errors.As(err, new(unknownTopic)) {
			return topics, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// hasPartition says no of a partition that a topic has not; -1 is any.
func hasPartition(t kmsg.MetadataResponseTopic, partition int32) error {
	switch n := int32(len(t.Partitions)); {
	case partition < n:
		return nil
	case n == 1:
		return usagef("--partition %d: topic %s has partition 0 alone", partition, *t.Topic)
	default:
		return usagef("--partition %d: topic %s has the partitions 0 to %d", partition, *t.Topic, n-1)
	}
}

// inputs are the files, or stdin where there are none.
func (f *produceFlags) inputs(cmd *cobra.Command, files []string) []*input {
	if len(files) == 0 {
		return []*input{{open: func() (io.ReadCloser, error) { return io.NopCloser(cmd.InOrStdin()), nil }, lines: true}}
	}
	var all []*input
	for _, name := range files {
		all = append(all, &input{name: name, open: func() (io.ReadCloser, error) { return os.Open(name) }, lines: f.lines})
	}
	return all
}

func (f *produceFlags) summary(w io.Writer, s *sender, took time.Duration) {
	n, _, _ := s.counts()
	what := "acknowledged"
	if f.acks.value == "0" {
		what = "sent, none of them acknowledged"
	}
	fmt.Fprintf(w, "produced to %s: %s %s in %.3gs (%s records/s)\n", s.topic, plural(n, "record"), what,
		took.Seconds(), humanize.Comma(int64(float64(n)/max(took.Seconds(), 1e-9))))
}

func parseHeaders(list []string) ([]kgo.RecordHeader, error) {
	var headers []kgo.RecordHeader
	for _, text := range list {
		h := kgo.RecordHeader{Key: text}
		if name, value, ok := strings.Cut(text, "="); ok {
			h = kgo.RecordHeader{Key: name, Value: []byte(value)}
		}
		if h.Key == "" {
			return nil, usagef("--header %q: want name=value", text)
		}
		headers = append(headers, h)
	}
	return headers, nil
}
