package metrics

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/log"
)

// TestCountedBeforeAnswered: who was answered finds what was done for it in the
// metrics, exactly.
func TestCountedBeforeAnswered(t *testing.T) {
	s := serve(t, broker.Options{})
	s.topic("t", 1, nil)
	c := s.client(kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for i := range 20 {
		s.produce(c, "one", "two")
		require.EqualValues(t, 2*(i+1), s.value(messagesIn, "topic", "t"))
	}
	require.EqualValues(t, 20, s.value(produces, "topic", "t"))
	require.EqualValues(t, 20, s.value(requests, "request", "Produce"))
	require.EqualValues(t, 20, s.value(requestErrs, "request", "Produce", "error", "NONE"))
	require.EqualValues(t, 20, s.value(totalTime, "request", "Produce"))
	assert.Zero(t, s.value(failedProduces, "topic", "t"))

	l := partition(t, s.b, "t", 0)
	require.EqualValues(t, l.Stats().Bytes, s.value(bytesIn, "topic", "t"), "the log has the batches that came, and nothing else")
	s.consume(c, 40)
	assert.EqualValues(t, l.Stats().Bytes, s.value(bytesOut, "topic", "t"))
	assert.Positive(t, s.value(fetches, "topic", "t"))

	assert.EqualValues(t, 40, s.value(logEnd, "topic", "t", "partition", "0"))
	assert.EqualValues(t, 0, s.value(logStart, "topic", "t", "partition", "0"))
	assert.EqualValues(t, 1, s.value(logSegments, "topic", "t", "partition", "0"))
	assert.EqualValues(t, l.Stats().Bytes, s.value(logSize, "topic", "t", "partition", "0"))
	assert.Positive(t, s.value(connections))
	assert.Greater(t, s.value(bytesRead), s.value(bytesIn, "topic", "t"), "requests have their batches in them")
	assert.Greater(t, s.value(bytesWritten), s.value(bytesOut, "topic", "t"))

	syncs := s.value(flushTime)
	require.NoError(t, l.Sync(t.Context()))
	assert.EqualValues(t, syncs+1, s.value(flushTime))
}

func partition(t *testing.T, b *broker.Broker, topic string, number int32) *log.Log {
	t.Helper()
	p, err := b.Partition(topic, number)
	require.NoError(t, err)
	l, err := p.Log()
	require.NoError(t, err)
	return l
}

// TestErrors: what clients are refused is counted by Kafka's names for it, and
// not as failures of the broker.
func TestErrors(t *testing.T) {
	s := serve(t, broker.Options{Config: map[string]string{"auto.create.topics.enable": "false"}})
	s.topic("t", 1, map[string]string{"max.message.bytes": "100"})
	c := s.client()
	ask := func(req kmsg.Request) {
		t.Helper()
		_, err := c.SeedBrokers()[0].Request(t.Context(), req)
		require.NoError(t, err)
	}
	err := c.ProduceSync(t.Context(), kgo.StringRecord(strings.Repeat("x", 200))).FirstErr()
	require.ErrorIs(t, err, kerr.MessageTooLarge)
	assert.EqualValues(t, 1, s.value(requestErrs, "request", "Produce", "error", "MESSAGE_TOO_LARGE"))
	assert.Greater(t, s.value(bytesRejected, "topic", "t"), 200.0)
	assert.Zero(t, s.value(messagesIn, "topic", "t"))
	assert.Zero(t, s.value(failedProduces, "topic", "t"))

	offsets := kmsg.NewPtrListOffsetsRequest()
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = "nowhere"
	for i := range int32(3) {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = i, -1
		topic.Partitions = append(topic.Partitions, p)
	}
	offsets.Topics = append(offsets.Topics, topic)
	ask(offsets)
	assert.EqualValues(t, 3, s.value(requestErrs, "request", "ListOffsets", "error", "UNKNOWN_TOPIC_OR_PARTITION"), "one for each partition")

	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID = "g", "nobody"
	ask(req)
	assert.EqualValues(t, 1, s.value(requestErrs, "request", "Heartbeat"))
	assert.EqualValues(t, 1, s.value(requests, "request", "Heartbeat"))

	// Of an answer that is never given, too.
	none := s.client(kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	_ = none.ProduceSync(t.Context(), kgo.StringRecord(strings.Repeat("x", 200)))
	require.Eventually(t, func() bool {
		return s.value(requestErrs, "request", "Produce", "error", "MESSAGE_TOO_LARGE") == 2
	}, time.Minute, time.Millisecond)
}

// TestEverything: each metric of the catalogue is there in a broker that was
// used, of its type and with its unit, and there is no other; Prometheus' linter
// has nothing to say but where Kafka's names rule.
func TestEverything(t *testing.T) {
	s := serve(t, broker.Options{Config: map[string]string{"group.initial.rebalance.delay.ms": "0"}})
	s.topic("t", 2, nil)
	c := s.client(kgo.ConsumeTopics("t"), kgo.ConsumerGroup("g"), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	s.produce(c, "a", "b", "c", "d", "e")
	s.consume(c, 5)
	require.NoError(t, c.CommitUncommittedOffsets(t.Context()))

	families := s.m.gather(t)
	known := make(map[string]bool)
	for _, m := range catalogue {
		known[m.name] = true
		f := families[m.name]
		if !assert.NotNil(t, f, "%s is in the catalogue, and was not gathered", m.name) {
			continue
		}
		assert.Equal(t, string(m.kind), strings.ToLower(f.GetType().String()), m.name)
		assert.True(t, strings.HasSuffix(f.GetHelp(), "("+m.unit+")"), "%s: %s", m.name, f.GetHelp())
		for _, one := range f.Metric {
			var labels []string
			for _, l := range one.Label {
				labels = append(labels, l.GetName())
			}
			assert.ElementsMatch(t, m.labels, labels, m.name)
		}
	}
	for name := range families {
		assert.True(t, known[name] || strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_"), "%s is not in the catalogue", name)
	}

	problems, err := testutil.GatherAndLint(s.m.registry)
	require.NoError(t, err)
	problem := func(p promlint.Problem) string { return p.Metric + ": " + p.Text }
	var told []string
	for _, p := range problems {
		told = append(told, problem(p))
	}
	assert.ElementsMatch(t, []string{
		// kafka.server:type=socket-server-metrics,name=connection-count: the gauge's name is Kafka's.
		connections.name + `: non-histogram and non-summary metrics should not have "_count" suffix`,
	}, told)

	assert.EqualValues(t, 1, s.value(groupStable))
	assert.EqualValues(t, 1, s.value(groupCount))
	assert.EqualValues(t, s.value(partitions), s.value(leaders))
	assert.EqualValues(t, serving, s.value(brokerState))
}

// TestGroups: the numbers of groups and offsets, and the lag.
func TestGroups(t *testing.T) {
	s := serve(t, broker.Options{Config: map[string]string{"offsets.topic.num.partitions": "3"}})
	s.topic("t", 1, nil)
	c := s.client()
	s.produce(c, "a", "b", "c", "d", "e")
	s.commit("g", 0, 2)
	s.commit("h", 0, 5)
	s.commit("ahead", 0, 50)
	assert.EqualValues(t, 3, s.value(groupLag, "consumergroup", "g", "topic", "t", "partition", "0"))
	assert.EqualValues(t, 0, s.value(groupLag, "consumergroup", "h"))
	assert.EqualValues(t, 0, s.value(groupLag, "consumergroup", "ahead"), "what was dropped since is no negative lag")
	assert.EqualValues(t, 3, s.value(groupCount))
	assert.EqualValues(t, 3, s.value(groupEmpty))
	assert.EqualValues(t, 3, s.value(groupOffsets))
	s.produce(c, "f")
	assert.EqualValues(t, 4, s.value(groupLag, "consumergroup", "g"))
	require.NoError(t, s.b.DeleteTopic("t"))
	assert.EqualValues(t, -1, s.value(groupLag, "consumergroup", "g"), "there is none of a topic that is gone")
	assert.EqualValues(t, -1, s.value(messagesIn, "topic", "t"), "and nothing else")
}

func (s *served) commit(id string, from int32, offsets ...int64) {
	s.t.Helper()
	_, err := s.b.OffsetsTopic(s.t.Context())
	require.NoError(s.t, err)
	r := group.CommitRequest{Version: 8, Group: id, Generation: -1}
	for i, o := range offsets {
		r.Offsets = append(r.Offsets, group.Commit{TopicPartition: group.TopicPartition{Topic: "t", Partition: from + int32(i)}, Offset: o, LeaderEpoch: -1})
	}
	require.NoError(s.t, s.b.Group(id, func(c *group.Coordinator, now time.Time) {
		c.Commit(now, r, func(all []group.Committed) {
			for _, one := range all {
				assert.Zero(s.t, one.Code)
			}
		})
	}))
}

// TestLagsAreBounded: of more offsets than there may be series the rest is
// counted, and no series are told of them.
func TestLagsAreBounded(t *testing.T) {
	s := serve(t, broker.Options{Config: map[string]string{"offsets.topic.num.partitions": "2"}})
	const over = 234
	for from := 0; from < maxLags+over; from += 1000 {
		s.commit("g"+strings.Repeat("x", from/1000), int32(from), make([]int64, min(1000, maxLags+over-from))...)
	}
	assert.EqualValues(t, maxLags+over, s.value(groupOffsets))
	assert.EqualValues(t, over, s.value(groupLagLeft))
}

// TestLogged: lines are counted by their level, whoever writes them.
func TestLogged(t *testing.T) {
	m := New()
	s := &served{t: t, m: m}
	var out strings.Builder
	logger := slog.New(m.Logged(slog.NewTextHandler(&out, nil)))
	logger.With("a", 1).Warn("w")
	logger.WithGroup("g").Error("e", "b", 2)
	logger.Error("e")
	logger.Debug("unseen")
	assert.EqualValues(t, 1, s.value(logged, "level", "WARN"))
	assert.EqualValues(t, 2, s.value(logged, "level", "ERROR"))
	assert.EqualValues(t, -1, s.value(logged, "level", "DEBUG"))
	assert.Contains(t, out.String(), "msg=w a=1")
	assert.Contains(t, out.String(), "g.b=2")
}

// TestBeforeAndAfter: metrics can be asked for while there is no broker yet, and
// when it is closed.
func TestBeforeAndAfter(t *testing.T) {
	m := New()
	s := &served{t: t, m: m}
	assert.EqualValues(t, opening, s.value(brokerState))
	assert.EqualValues(t, -1, s.value(partitions))
	b, err := broker.Open(t.TempDir(), broker.Options{})
	require.NoError(t, err)
	m.Serving(b)
	assert.EqualValues(t, 0, s.value(partitions))
	require.NoError(t, b.Close())
	assert.EqualValues(t, 0, s.value(partitions), "a broker that was closed can be asked")
	m.Closing()
	assert.EqualValues(t, closing, s.value(brokerState))
	assert.EqualValues(t, -1, s.value(partitions))
}
