package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/group/assign"
)

const consumeHelp = `Consume prints the records of the TOPICs of a broker that runs, seglog's or Kafka's, and
waits for more, also of partitions that the topics get, until ^C. With --exit it ends where the partitions ended when it began
to read them, with --count after so many records. The flags are kcat's.

--offset says where each partition is read from:
  beginning, end   its first record, or what comes from now on
  N                the record of that offset
  -N               N offsets before its end, or its beginning
  s@TIME           the first record as late as TIME, or its end
and given once more where it is read to, which implies --exit:
  e@TIME           before the first record as late as TIME, or its end by now
A TIME is in milliseconds since 1970, or RFC 3339, a date, -15m, or now.

With --group the partitions are shared with the group's other members. They are read
from where the group has committed, or from --offset beginning or end where it has
not, and what was printed is committed every 5s and at the end. With --exit it waits
until it is given partitions and ends when it has come to the end of all it has.

A record is printed as its value and --delimiter, with --key-delimiter behind its key
if it has one. --json is an object a line, as seglog read prints it, with topic and
partition. --format is text with escapes like \n and \x00 in which stand for a part
of the record:
  %t %p %o   topic, partition, offset
  %T         its time, in milliseconds since 1970
  %k %K      key, and its length in bytes, -1 for null
  %s %S      value, and its length in bytes, -1 for null
  %R         the length of the value as 4 bytes, big-endian
  %h         headers, as name=value,name=value
  %%         a percent sign

^C ends it with exit code 0, unless it was to end by itself. A broker that does not
answer ends it with 1, and so does a topic that is deleted.`

type consumeFlags struct {
	offsets      []string
	partitions   []int32
	count        int64
	exit         bool
	group        string
	format       string
	json         bool
	keyDelimiter string
	delimiter    string
	null         bool
	isolation    choice
	quiet        bool

	broker string
	span   span
}

func newConsume() *cobra.Command {
	f := consumeFlags{isolation: choice{"read_uncommitted", []string{"read_uncommitted", "read_committed"}}}
	cmd := &cobra.Command{
		Use:     "consume TOPIC...",
		Short:   "Print records of topics of a broker",
		Long:    consumeHelp,
		Example: "  seglog consume orders -e\n  seglog consume orders -o -10 -e -f '%p:%o %k=%s\\n'\n  seglog consume orders -o s@2026-01-31 -o e@2026-02-01 -J\n  seglog consume orders bills -G billing",
		Args:    cobra.MinimumNArgs(1),
	}
	flags := cmd.Flags()
	broker := brokerFlag(flags)
	flags.StringArrayVarP(&f.offsets, "offset", "o", nil, "`where` to read from: beginning (the default), end, N, -N or s@TIME; and to: e@TIME")
	flags.Int32SliceVarP(&f.partitions, "partition", "p", nil, "only these partitions, by `number`, with commas between; all unless given")
	flags.Int64VarP(&f.count, "count", "c", 0, "stop after this many records; 0 is no limit")
	flags.BoolVarP(&f.exit, "exit", "e", false, "stop at the end of the partitions")
	flags.StringVarP(&f.group, "group", "G", "", "read as a member of this consumer group, and commit")
	flags.StringVarP(&f.format, "format", "f", "", "`text` that each record is printed as")
	flags.BoolVarP(&f.json, "json", "J", false, "print a JSON object a line")
	flags.StringVarP(&f.keyDelimiter, "key-delimiter", "K", "", "print the key, where there is one, and this (\\t is a tab) before the value")
	flags.StringVarP(&f.delimiter, "delimiter", "D", `\n`, "what is printed behind each value")
	flags.BoolVarP(&f.null, "null", "Z", false, "print null as NULL instead of nothing")
	flags.Var(&f.isolation, "isolation", "read_committed ends before the first undecided transaction and passes over aborted ones")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no summary at the end")
	cmd.MarkFlagsMutuallyExclusive("format", "json")
	cmd.RunE = runs(func(cmd *cobra.Command, args []string) error {
		f.broker = *broker
		return f.run(cmd, args)
	})
	return cmd
}

func (f *consumeFlags) run(cmd *cobra.Command, topics []string) (err error) {
	c := &consumer{topics: topics, group: f.group, left: f.count, out: newOutput(cmd.OutOrStdout()), stderr: cmd.ErrOrStderr()}
	if c.format, err = f.formatting(); err != nil {
		return err
	}
	if f.span, err = parseSpan(f.offsets, time.Now()); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	c.ends = f.exit || f.span.until != nil
	if f.isolation.value == "read_committed" {
		c.level = readCommitted
	}
	ctx, began := cmd.Context(), time.Now()
	if err = f.consume(ctx, c); errors.As(err, new(interrupted)) && !c.ends && f.count == 0 {
		err = nil // a signal is how it ends
	}
	if !f.quiet && !c.began.IsZero() && !brokenPipe(err) {
		took := time.Since(began)
		fmt.Fprintf(cmd.ErrOrStderr(), "consumed %s in %.3gs (%s records/s)\n", plural(c.printed, "record"),
			took.Seconds(), humanize.Comma(int64(float64(c.printed)/max(took.Seconds(), 1e-9))))
	}
	return err
}

func (f *consumeFlags) check() error {
	switch {
	case f.count < 0:
		return usagef("--count wants 0 or more records")
	case f.group == "":
		return nil
	case len(f.partitions) > 0:
		return usagef("--partition: which partitions a member of a group reads the group says")
	case f.span.until != nil || f.span.from != fromBeginning && f.span.from != fromEnd:
		return usagef("--offset: a group goes on where it has committed, or from beginning or end; seglog groups reset has it go on elsewhere")
	}
	return nil
}

func (f *consumeFlags) formatting() (consumeFormat, error) {
	var null []byte
	if f.null {
		null = []byte("NULL")
	}
	switch {
	case f.json:
		return jsonFormat(), nil
	case f.format != "":
		return parseFormat(f.format, null)
	}
	keyDelimiter, err := parseSeparator(f.keyDelimiter)
	if err != nil {
		return nil, err
	}
	delimiter, err := parseSeparator(f.delimiter)
	return plainFormat(keyDelimiter, delimiter, null), err
}

// consume connects once to ask, and once to read.
func (f *consumeFlags) consume(ctx context.Context, c *consumer) (err error) {
	if c.asked, err = connect(ctx, f.broker); err != nil {
		return err
	}
	defer c.asked.Close()
	of, err := f.readFrom(ctx, c)
	if err != nil {
		return whyFailed(ctx, err)
	}
	all, err := f.span.bounds(ctx, c.asked, of, c.level) // of a group, too, for their leaders to be reached
	if err != nil {
		return whyFailed(ctx, err)
	}
	options := []kgo.Opt{kgo.KeepControlRecords(), kgo.FetchMaxBytes(16 << 20), kgo.FetchMaxPartitionBytes(4 << 20),
		kgo.ConsumeResetOffset(f.reset()), kgo.FetchIsolationLevel(isolations[c.level])}
	if f.group != "" {
		options = append(options, c.member(f.span)...)
	} else {
		c.assign(all)
		c.grows = !c.ends && len(f.partitions) == 0
		options = append(options, kgo.ConsumePartitions(placesOf(all)))
	}
	client, err := connect(ctx, f.broker, options...)
	if err != nil {
		return err
	}
	c.client = client.Client
	c.began = time.Now()
	defer client.CloseAllowingRebalance() // leaves the group
	return c.run(ctx)
}

var isolations = map[int8]kgo.IsolationLevel{readUncommitted: kgo.ReadUncommitted(), readCommitted: kgo.ReadCommitted()}

// reset is where to go on when the records that are next are dropped, and where
// a group begins.
func (f *consumeFlags) reset() kgo.Offset {
	if f.group != "" && f.span.from == fromEnd {
		return kgo.NewOffset().AtEnd()
	}
	return kgo.NewOffset().AtStart()
}

// readFrom are the partitions to be read, which have to exist.
func (f *consumeFlags) readFrom(ctx context.Context, c *consumer) (map[assign.TopicPartition]bool, error) {
	topics, err := c.asked.metadata(ctx, c.topics)
	if err != nil {
		return nil, err
	}
	of := make(map[assign.TopicPartition]bool)
	c.ids = make(map[string][16]byte)
	for _, t := range topics {
		c.ids[*t.Topic] = t.TopicID
		for _, number := range f.partitions {
			if number < 0 {
				return nil, usagef("--partition wants the number of one")
			}
			if err := hasPartition(t, number); err != nil {
				return nil, err
			}
			of[assign.TopicPartition{Topic: *t.Topic, Partition: number}] = true
		}
		for _, p := range t.Partitions {
			if len(f.partitions) == 0 {
				of[assign.TopicPartition{Topic: *t.Topic, Partition: p.Partition}] = true
			}
		}
	}
	return of, nil
}

func placesOf(all map[assign.TopicPartition]bounds) map[string]map[int32]kgo.Offset {
	places := make(map[string]map[int32]kgo.Offset)
	for tp, b := range all {
		if places[tp.Topic] == nil {
			places[tp.Topic] = make(map[int32]kgo.Offset)
		}
		places[tp.Topic][tp.Partition] = kgo.NewOffset().At(b.from)
	}
	return places
}
