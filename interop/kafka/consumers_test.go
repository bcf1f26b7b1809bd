package kafka

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/broker/consumer"
	"github.com/seglog/seglog/broker/kafka"
	"github.com/seglog/seglog/group/assign"
)

// consuming is Kafka's consumer or ours. Partitions are "topic-0", records
// "topic-0@offset=value". One goroutine at a time uses it.
type consuming interface {
	subscribe(topics ...string)
	match(pattern string)
	assign(partitions ...string)
	seek(partition string, offset int64)
	position(partition string) int64
	poll(wait time.Duration) ([]string, error)
	commit() error // all positions
	assignment() []string
}

// consumes is how a consumer is set up; what is left out is without effect on
// what is looked at.
type consumes struct {
	group       string
	reset       consumer.Reset
	autoCommit  time.Duration // 0: none
	cooperative bool
	metadataAge time.Duration // metadata.max.age.ms; of Kafka's only
	timeout     time.Duration // of commit
}

// side is a consumer at a broker: ours in the process of ours, or Kafka's.
type side struct {
	theirs bool // Kafka's consumer
	ours   *broker.Broker
	addr   string
	admin  *kadm.Client
}

// sides runs a test with our consumer, and with Kafka's at Kafka's broker and, as
// what it does must not be the broker's doing, at ours.
func sides(t *testing.T, f func(t *testing.T, s *side)) {
	needsKafka(t)
	t.Run("ours", func(t *testing.T) { f(t, newSide(t, serveOurs(t))) })
	t.Run("Kafka's", func(t *testing.T) {
		run.broker.start(t)
		f(t, newSide(t, &side{theirs: true, addr: run.broker.Addr()}))
	})
	t.Run("Kafka's at our broker", func(t *testing.T) {
		s := serveOurs(t)
		s.theirs = true
		f(t, newSide(t, s))
	})
}

func newSide(t *testing.T, s *side) *side {
	c, err := kgo.NewClient(kgo.SeedBrokers(s.addr))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	s.admin = kadm.NewClient(c)
	return s
}

// serveOurs serves our broker in this process until the test ends.
func serveOurs(t *testing.T) *side {
	b, err := broker.Open(t.TempDir(), broker.Options{Config: map[string]string{
		"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "1", "auto.create.topics.enable": "false"}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- kafka.Serve(ctx, l, b) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-served)
		require.NoError(t, b.Close())
	})
	return &side{ours: b, addr: l.Addr().String()}
}

func (s *side) create(t *testing.T, topic string, partitions int32) {
	t.Helper()
	_, err := s.admin.CreateTopic(t.Context(), partitions, 1, nil, topic)
	require.NoError(t, err)
}

func (s *side) remove(t *testing.T, topic string) {
	t.Helper()
	_, err := s.admin.DeleteTopic(t.Context(), topic)
	require.NoError(t, err)
}

// produce waits for a topic that was just created.
func (s *side) produce(t *testing.T, partition string, values ...string) {
	t.Helper()
	tp := parsed(partition)
	c, err := kgo.NewClient(kgo.SeedBrokers(s.addr), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.UnknownTopicRetries(100))
	require.NoError(t, err)
	defer c.Close()
	for _, v := range values {
		require.NoError(t, c.ProduceSync(t.Context(), &kgo.Record{Topic: tp.Topic, Partition: tp.Partition, Value: []byte(v)}).FirstErr())
	}
}

// committed is the group's offset, -1 for none.
func (s *side) committed(t *testing.T, group, partition string) int64 {
	t.Helper()
	tp := parsed(partition)
	offsets, err := s.admin.FetchOffsets(t.Context(), group)
	require.NoError(t, err)
	if o, ok := offsets.Lookup(tp.Topic, tp.Partition); ok {
		return o.At
	}
	return -1
}

func (s *side) consumer(t *testing.T, o consumes) consuming {
	t.Helper()
	if s.theirs {
		return newJavas(t, s.addr, o)
	}
	return newEmbedded(t, s.ours, o)
}

func parsed(partition string) consumer.TopicPartition {
	dash := strings.LastIndexByte(partition, '-')
	n, err := strconv.Atoi(partition[dash+1:])
	if err != nil {
		panic(err)
	}
	return consumer.TopicPartition{Topic: partition[:dash], Partition: int32(n)}
}

// embedded is the consumer in the process of its broker.
type embedded struct {
	t       *testing.T
	c       *consumer.Consumer
	timeout time.Duration
}

func newEmbedded(t *testing.T, b *broker.Broker, o consumes) *embedded {
	opts := consumer.Options{Reset: o.reset, AutoCommit: o.autoCommit, HeartbeatInterval: 200 * time.Millisecond}
	if o.autoCommit == 0 {
		opts.AutoCommit = consumer.NoAutoCommit
	}
	if o.cooperative {
		opts.Assignors = []assign.Assignor{assign.CooperativeSticky{}}
	}
	c, err := consumer.New(b, o.group, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	return &embedded{t, c, max(o.timeout, time.Minute)}
}

func (c *embedded) subscribe(topics ...string) { require.NoError(c.t, c.c.Subscribe(topics...)) }

func (c *embedded) match(pattern string) {
	require.NoError(c.t, c.c.SubscribePattern(regexp.MustCompile(pattern)))
}

func (c *embedded) assign(partitions ...string) {
	var list []consumer.TopicPartition
	for _, p := range partitions {
		list = append(list, parsed(p))
	}
	require.NoError(c.t, c.c.Assign(list...))
}

func (c *embedded) seek(partition string, offset int64) {
	require.NoError(c.t, c.c.Seek(parsed(partition), offset))
}

func (c *embedded) position(partition string) int64 {
	at, err := c.c.Position(c.t.Context(), parsed(partition))
	require.NoError(c.t, err)
	return at
}

func (c *embedded) poll(wait time.Duration) (list []string, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), wait)
	defer cancel()
	records, err := c.c.Poll(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	for _, r := range records {
		list = append(list, fmt.Sprintf("%s-%d@%d=%s", r.Topic, r.Partition, r.Offset, r.Value))
	}
	return list, err
}

func (c *embedded) commit() error {
	ctx, cancel := context.WithTimeout(c.t.Context(), c.timeout)
	defer cancel()
	return c.c.CommitSync(ctx, nil)
}

func (c *embedded) assignment() (list []string) {
	for _, tp := range c.c.Assignment() {
		list = append(list, fmt.Sprintf("%s-%d", tp.Topic, tp.Partition))
	}
	return list
}

// javas is Kafka's consumer, in testdata/Consumer.java.
type javas struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func newJavas(t *testing.T, addr string, o consumes) *javas {
	set := []string{"bootstrap.servers=" + addr, "heartbeat.interval.ms=200",
		"auto.offset.reset=" + [...]string{"latest", "earliest", "none"}[o.reset],
		"enable.auto.commit=" + strconv.FormatBool(o.autoCommit > 0)}
	if o.group != "" {
		set = append(set, "group.id="+o.group)
	}
	if o.cooperative {
		set = append(set, "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor")
	}
	for key, d := range map[string]time.Duration{"auto.commit.interval.ms": o.autoCommit, "metadata.max.age.ms": o.metadataAge, "default.api.timeout.ms": o.timeout} {
		if d > 0 {
			set = append(set, fmt.Sprintf("%s=%d", key, d.Milliseconds()))
		}
	}
	// It ends with its input; what does not is killed, after more than the waiting here adds up to.
	ctx, kill := context.WithTimeout(context.Background(), 6*patience)
	cmd := run.judge.Command(ctx, "Consumer", set...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		defer kill()
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
	})
	return &javas{t, in, bufio.NewReader(out)}
}

// call returns the words of the answer.
func (c *javas) call(words ...string) ([]string, error) {
	_, err := fmt.Fprintln(c.in, strings.Join(words, " "))
	require.NoError(c.t, err)
	line, err := c.out.ReadString('\n')
	require.NoError(c.t, err)
	how, said, _ := strings.Cut(strings.TrimSpace(line), " ")
	if how != "ok" {
		return nil, errors.New(said)
	}
	return strings.Fields(said), nil
}

func (c *javas) must(words ...string) []string {
	said, err := c.call(words...)
	require.NoError(c.t, err)
	return said
}

func (c *javas) subscribe(topics ...string)  { c.must(append([]string{"subscribe"}, topics...)...) }
func (c *javas) match(pattern string)        { c.must("match", pattern) }
func (c *javas) assign(partitions ...string) { c.must(append([]string{"assign"}, partitions...)...) }
func (c *javas) assignment() []string        { return c.must("assignment") }

func (c *javas) seek(partition string, offset int64) {
	c.must("seek", partition, strconv.FormatInt(offset, 10))
}

func (c *javas) position(partition string) int64 {
	at, err := strconv.ParseInt(c.must("position", partition)[0], 10, 64)
	require.NoError(c.t, err)
	return at
}

func (c *javas) poll(wait time.Duration) ([]string, error) {
	return c.call("poll", strconv.FormatInt(wait.Milliseconds(), 10))
}

func (c *javas) commit() error {
	_, err := c.call("commit")
	return err
}
