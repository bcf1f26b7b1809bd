package consumer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/group"
	"github.com/seglog/seglog/record"
)

// quick are settings by which groups form at once.
var quick = map[string]string{"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "2"}

func open(t testing.TB, dir string) *broker.Broker {
	t.Helper()
	return configured(t, dir, nil)
}

// configured has settings beside the quick ones.
func configured(t testing.TB, dir string, more map[string]string) *broker.Broker {
	t.Helper()
	config := maps.Clone(quick)
	maps.Copy(config, more)
	b, err := broker.Open(dir, broker.Options{Config: config})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := b.Close(); err != nil && !errors.Is(err, broker.ErrClosed) {
			t.Error(err)
		}
	})
	return b
}

// timed runs a test with a clock of its own: time passes when nobody has anything
// to do, so that what happens at a time is seen to happen then.
func timed(t *testing.T, f func(t *testing.T, b *broker.Broker)) {
	t.Helper()
	timedWith(t, nil, f)
}

func timedWith(t *testing.T, config map[string]string, f func(t *testing.T, b *broker.Broker)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { f(t, configured(t, dir, config)) })
}

func create(t testing.TB, b *broker.Broker, name string, partitions int32) *broker.Topic {
	t.Helper()
	topic, err := b.CreateTopic(t.Context(), broker.TopicSpec{Name: name, Partitions: partitions})
	require.NoError(t, err)
	return topic
}

// produce appends one batch.
func produce(t testing.TB, b *broker.Broker, topic string, partition int32, values ...string) {
	t.Helper()
	var records []record.Record
	for _, v := range values {
		records = append(records, record.Record{Value: []byte(v)})
	}
	_, err := b.Produce(t.Context(), topic, partition, records...)
	require.NoError(t, err)
}

// made makes a consumer, which is closed with the test.
func made(t testing.TB, b *broker.Broker, group string, o Options) *Consumer {
	t.Helper()
	c, err := New(b, group, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil && !b.Closed() {
			t.Error(err)
		}
	})
	return c
}

// subscribed is one that begins at the first record.
func subscribed(t testing.TB, b *broker.Broker, group string, o Options, topics ...string) *Consumer {
	t.Helper()
	o.Reset = Earliest
	c := made(t, b, group, o)
	require.NoError(t, c.Subscribe(topics...))
	return c
}

// within is a context for what has to happen. In a timed test it costs nothing.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// polled polls until there are n records, and returns them by their values.
func polled(t testing.TB, c *Consumer, n int) (values []string) {
	t.Helper()
	ctx := within(t, time.Minute)
	for len(values) < n {
		records, err := c.Poll(ctx)
		require.NoError(t, err, "got %v", values)
		values = append(values, valuesOf(records)...)
	}
	return values
}

func valuesOf(records []Record) (values []string) {
	for _, r := range records {
		values = append(values, string(r.Value))
	}
	return values
}

// nothing polls for a while, in which there has to be nothing.
func nothing(t testing.TB, c *Consumer, d time.Duration) {
	t.Helper()
	records, err := c.Poll(within(t, d))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, records)
}

// polling polls a consumer until the test ends or stop is called.
func polling(t testing.TB, c *Consumer, each func(Record)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			records, err := c.Poll(ctx)
			if err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
				return
			}
			for _, r := range records {
				if each != nil {
					each(r)
				}
			}
			if errors.Is(err, ErrClosed) {
				return
			}
		}
	})
	stop = func() { cancel(); group.Wait() }
	t.Cleanup(stop)
	return stop
}

func tp(name string) TopicPartition {
	topic, number, _ := strings.Cut(name, "-")
	p := TopicPartition{Topic: topic}
	fmt.Sscan(number, &p.Partition)
	return p
}

func tps(names ...string) (list []TopicPartition) {
	for _, n := range names {
		list = append(list, tp(n))
	}
	return list
}

// committed is what the group has committed of a partition, -1 for nothing.
func committed(t testing.TB, b *broker.Broker, name, of string) int64 {
	t.Helper()
	offset := int64(-1)
	require.NoError(t, b.Group(name, func(k *group.Coordinator, _ time.Time) {
		got, code := k.Fetch(name, tps(of), false)
		if code == group.None {
			offset = got[0].Offset.Offset
		}
	}))
	return offset
}

func describe(t testing.TB, b *broker.Broker, name string) (d group.Description) {
	t.Helper()
	require.NoError(t, b.Group(name, func(k *group.Coordinator, _ time.Time) { d = k.Describe(name) }))
	return d
}

// kill is the end of a consumer without a word to the group, as of a process.
func (c *Consumer) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.closing, c.mu.closed = true, true
	if c.mu.beat != nil {
		c.mu.beat.Stop()
	}
	c.stopTopics()
}

// heard notes what a Listener is told.
type heard struct {
	mu   sync.Mutex
	list []string
}

func (h *heard) add(what string, list []TopicPartition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, tp := range list {
		what += fmt.Sprintf(" %s-%d", tp.Topic, tp.Partition)
	}
	h.list = append(h.list, what)
}

// taken is what was heard since it was called last.
func (h *heard) taken() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

func (h *heard) listener() Listener {
	note := func(what string) func(context.Context, []TopicPartition) {
		return func(_ context.Context, list []TopicPartition) { h.add(what, list) }
	}
	return Listener{Revoked: note("revoked"), Assigned: note("assigned"), Lost: note("lost")}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func numbers(from, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(from+i))
	}
	return list
}
