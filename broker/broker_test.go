package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/cespare/xxhash/v2"

	"github.com/seglog/seglog/broker"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func open(t testing.TB, dir string, config map[string]string) *broker.Broker {
	t.Helper()
	b, err := broker.Open(dir, broker.Options{Config: config})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := b.Close(); err != nil && !errors.Is(err, broker.ErrClosed) {
			t.Error(err)
		}
	})
	return b
}

func create(t testing.TB, b *broker.Broker, name string, partitions int32, configs map[string]string) *broker.Topic {
	t.Helper()
	topic, err := b.CreateTopic(t.Context(), broker.TopicSpec{Name: name, Partitions: partitions, Configs: configs})
	require.NoError(t, err)
	return topic
}

func produce(t testing.TB, b *broker.Broker, topic string, partition int32, values ...string) int64 {
	t.Helper()
	var records []record.Record
	for _, v := range values {
		records = append(records, record.Record{Value: []byte(v)})
	}
	first, err := b.Produce(t.Context(), topic, partition, records...)
	require.NoError(t, err)
	return first
}

func values(t testing.TB, b *broker.Broker, topic string, partition int32, offset int64) (list []string) {
	t.Helper()
	p, err := b.Partition(topic, partition)
	require.NoError(t, err)
	got := b.Fetch(t.Context(), broker.FetchOptions{}, []broker.FetchPartition{{Partition: p, Offset: offset}})
	defer broker.Release(got)
	require.NoError(t, got[0].Err)
	if got[0].View == nil {
		return nil
	}
	var d record.Decoder
	for batch := range got[0].View.Batches() {
		for r, err := range d.Records(batch) {
			require.NoError(t, err)
			list = append(list, string(r.Value))
		}
	}
	return list
}

// TestKept: topics, their ids, configurations and records are there again.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	one := create(t, b, "one", 2, map[string]string{"retention.ms": "1000"})
	create(t, b, "gone", 1, nil)
	produce(t, b, "one", 1, "a", "b")
	require.NoError(t, b.AlterTopic("one", []broker.Alteration{{Name: "max.message.bytes", Value: "2000"}}, false))
	require.NoError(t, b.AlterBroker(true, []broker.Alteration{{Name: "log.retention.ms", Value: "77"}}, false))
	require.NoError(t, b.CreatePartitions(t.Context(), "one", 3, false))
	require.NoError(t, b.DeleteTopic("gone"))
	cluster := b.ClusterID()
	require.NoError(t, b.Close())
	require.ErrorIs(t, b.Close(), broker.ErrClosed)

	b = open(t, dir, nil)
	require.Len(t, b.Topics(), 1)
	again, err := b.Topic("one")
	require.NoError(t, err)
	assert.Equal(t, one.ID(), again.ID())
	assert.Len(t, again.Partitions(), 3)
	assert.Equal(t, cluster, b.ClusterID())
	assert.Equal(t, []string{"a", "b"}, values(t, b, "one", 1, 0))
	for _, v := range b.TopicConfig(again) {
		switch v.Name {
		case "retention.ms":
			assert.Equal(t, "1000", v.Text)
			assert.Equal(t, []broker.Synonym{{"retention.ms", "1000", broker.FromTopic}, {"log.retention.ms", "77", broker.FromDynamicDefault}, {"log.retention.hours", "168", broker.FromDefault}}, v.Others)
		case "max.message.bytes":
			assert.Equal(t, "2000", v.Text)
		default:
			assert.Equal(t, broker.FromDefault, v.Source, v.Name)
		}
	}
	byID, err := b.TopicByID(one.ID())
	require.NoError(t, err)
	assert.Same(t, again, byID)
}

// TestProducerIDs: none is given twice, not by a broker that was not closed
// either, and none that is in the logs of a directory that was another's.
func TestProducerIDs(t *testing.T) {
	dir := t.TempDir()
	seen := make(map[int64]bool)
	take := func(b *broker.Broker, n int) {
		for range n {
			id, err := b.NewProducerID()
			require.NoError(t, err)
			require.False(t, seen[id], "producer id %d again", id)
			seen[id] = true
		}
	}
	b := open(t, dir, nil)
	take(b, 1500)
	require.NoError(t, b.Close())
	b = open(t, dir, nil)
	take(b, 10)
	create(t, b, "t", 1, nil)
	p, err := b.Partition("t", 0)
	require.NoError(t, err)
	_, err = p.Append(t.Context(), batch(t, &record.Producer{ID: 9000, Sequence: 0}, "x"))
	require.NoError(t, err)
	require.NoError(t, b.Close())

	require.NoError(t, os.Remove(filepath.Join(dir, broker.StateFile)))
	b = open(t, dir, nil)
	id, err := b.NewProducerID()
	require.NoError(t, err)
	assert.Greater(t, id, int64(9000))
}

func batch(t testing.TB, p *record.Producer, values ...string) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{Producer: p})
	for _, v := range values {
		require.NoError(t, b.Add(&record.Record{Time: time.Now(), Value: []byte(v)}))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return raw
}

// TestForeign: a directory that the broker has no notes of is served, and
// nothing of it is dropped whatever its age.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	was := create(t, b, "theirs", 2, nil)
	old := record.Record{Time: time.Now().Add(-1000 * time.Hour), Value: []byte("old")}
	_, err := b.Produce(t.Context(), "theirs", 1, old)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, broker.StateFile)))

	b = open(t, dir, nil)
	topic, err := b.Topic("theirs")
	require.NoError(t, err)
	assert.Equal(t, was.ID(), topic.ID())
	p, err := topic.Partition(1)
	require.NoError(t, err)
	l, err := p.Log()
	require.NoError(t, err)
	dropped, err := l.Retain(t.Context())
	require.NoError(t, err)
	assert.Empty(t, dropped)
	require.NoError(t, b.AlterTopic("theirs", []broker.Alteration{{Name: "retention.ms", Op: broker.Delete}}, false))
	dropped, err = l.Retain(t.Context())
	require.NoError(t, err)
	assert.Len(t, dropped, 1, "now it is configured")
}

// rewrite changes the state file as a crash may have left it.
func rewrite(t *testing.T, dir string, change func(topic map[string]any)) {
	t.Helper()
	name := filepath.Join(dir, broker.StateFile)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(content), "\n")
	var s map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &s))
	for _, topic := range s["topics"].(map[string]any) {
		change(topic.(map[string]any))
	}
	out, err := json.Marshal(s)
	require.NoError(t, err)
	sum := strconv.FormatUint(xxhash.Sum64(out), 16)
	require.NoError(t, os.WriteFile(name, []byte(string(out)+"\n"+sum+"\n"), 0o644))
}

// TestHalfDone: what a crash left half made is taken away, half removed too, and
// what was there before stays.
func TestHalfDone(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(topic map[string]any)
		settled int
	}{
		{"creation", func(s map[string]any) { s["settled"] = 0; s["partitions"] = 4 }, 0},
		{"extension", func(s map[string]any) { s["settled"] = 1 }, 1},
		{"extension, nothing made yet", func(s map[string]any) { s["partitions"] = 9 }, 2},
		{"deletion", func(s map[string]any) { s["deleting"] = true }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			b := open(t, dir, nil)
			create(t, b, "t", 2, map[string]string{"file.delete.delay.ms": "0"})
			produce(t, b, "t", 0, "kept")
			require.NoError(t, b.Close())
			rewrite(t, dir, c.change)
			for range 2 { // the second time there is nothing left to do
				b = open(t, dir, nil)
				if c.settled == 0 {
					assert.Empty(t, b.Topics())
				} else {
					topic, err := b.Topic("t")
					require.NoError(t, err)
					assert.Len(t, topic.Partitions(), c.settled)
					assert.Equal(t, []string{"kept"}, values(t, b, "t", 0, 0))
				}
				require.NoError(t, b.Close())
			}
			left, err := filepath.Glob(filepath.Join(dir, "t-*"))
			require.NoError(t, err)
			assert.Len(t, left, c.settled)
		})
	}
}

// TestDamagedState: without the configurations records could go that were to be
// kept, so the broker does not start on a damaged file.
func TestDamagedState(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	create(t, b, "t", 1, nil)
	require.NoError(t, b.Close())
	name := filepath.Join(dir, broker.StateFile)
	good, err := os.ReadFile(name)
	require.NoError(t, err)
	for i := range good[:len(good)-1] {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x10
		require.NoError(t, os.WriteFile(name, bad, 0o644))
		_, err := broker.Open(dir, broker.Options{})
		require.ErrorContains(t, err, "seglog.broker is damaged", "byte %d", i)
	}
	require.NoError(t, os.WriteFile(name, good[:len(good)/2], 0o644))
	_, err = broker.Open(dir, broker.Options{})
	require.ErrorContains(t, err, "cut short")
	require.NoError(t, os.WriteFile(name, good, 0o644))
	open(t, dir, nil)
}

// TestMissingPartition: a partition whose directory is gone is told of, not made
// anew as if it had been empty.
func TestMissingPartition(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	create(t, b, "t", 2, nil)
	require.NoError(t, b.Close())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "t-1")))
	b = open(t, dir, nil)
	_, err := b.Produce(t.Context(), "t", 1, record.Record{Value: []byte("x")})
	require.ErrorIs(t, err, kerr.KafkaStorageError)
	produce(t, b, "t", 0, "x")
	assert.NoDirExists(t, filepath.Join(dir, "t-1"))
}

// TestRefusals: names, counts and values that are none.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, nil)
	create(t, b, "a.b", 1, nil)
	for name, want := range map[string]error{
		"": kerr.InvalidTopicException, ".": kerr.InvalidTopicException, "..": kerr.InvalidTopicException,
		"../x": kerr.InvalidTopicException, "/etc": kerr.InvalidTopicException, "a\x00": kerr.InvalidTopicException,
		strings.Repeat("x", 250): kerr.InvalidTopicException, "__cluster_metadata": kerr.InvalidTopicException,
		"a_b": kerr.InvalidTopicException, "a.b": kerr.TopicAlreadyExists,
	} {
		_, err := b.CreateTopic(t.Context(), broker.TopicSpec{Name: name})
		assert.ErrorIs(t, err, want, "%q", name)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			assert.Equal(t, "a.b-0", e.Name())
		}
	}
	_, err = b.CreateTopic(t.Context(), broker.TopicSpec{Name: "n", Partitions: -3})
	require.ErrorIs(t, err, kerr.InvalidPartitions)
	_, err = b.CreateTopic(t.Context(), broker.TopicSpec{Name: "n", Partitions: 10_001})
	require.ErrorIs(t, err, kerr.PolicyViolation)
	_, err = b.CreateTopic(t.Context(), broker.TopicSpec{Name: "n", Configs: map[string]string{"retention.ms": "soon"}})
	require.ErrorIs(t, err, kerr.InvalidConfig)
	require.ErrorIs(t, b.DeleteTopic("n"), kerr.UnknownTopicOrPartition)

	_, err = broker.Open(t.TempDir(), broker.Options{Config: map[string]string{"num.partitions": "many"}})
	require.ErrorContains(t, err, `invalid value "many" for num.partitions`)
	_, err = broker.Open(dir, broker.Options{})
	require.ErrorIs(t, err, log.ErrLocked)
	require.NoError(t, b.Close())
	_, err = broker.Open(dir, broker.Options{Config: map[string]string{"node.id": "7"}})
	require.ErrorContains(t, err, "belongs to node 1")
}

// TestDefaults: settings come from the topic, what was altered, what was given
// and the default, in that order, and older keys stand for newer ones.
func TestDefaults(t *testing.T) {
	b := open(t, t.TempDir(), map[string]string{"log.retention.hours": "2", "log.segment.bytes": "2000000", "num.partitions": "3"})
	topic := create(t, b, "t", 0, nil)
	assert.Len(t, topic.Partitions(), 3)
	get := func(name string) (string, broker.Source) {
		for _, v := range b.TopicConfig(topic) {
			if v.Name == name {
				return v.Text, v.Source
			}
		}
		return "", 0
	}
	check := func(name, text string, source broker.Source) {
		t.Helper()
		gotText, gotSource := get(name)
		assert.Equal(t, text, gotText)
		assert.Equal(t, source, gotSource)
	}
	check("retention.ms", "7200000", broker.FromStatic)
	check("segment.bytes", "2000000", broker.FromStatic)
	require.NoError(t, b.AlterBroker(true, []broker.Alteration{{Name: "log.segment.bytes", Value: "3000000"}}, false))
	check("segment.bytes", "3000000", broker.FromDynamicDefault)
	require.NoError(t, b.AlterBroker(false, []broker.Alteration{{Name: "log.segment.bytes", Value: "4000000"}}, false))
	check("segment.bytes", "4000000", broker.FromDynamicBroker)
	require.NoError(t, b.AlterTopic("t", []broker.Alteration{{Name: "segment.bytes", Value: "5000000"}}, true))
	check("segment.bytes", "4000000", broker.FromDynamicBroker)
	require.NoError(t, b.AlterTopic("t", []broker.Alteration{{Name: "segment.bytes", Value: "5000000"}}, false))
	check("segment.bytes", "5000000", broker.FromTopic)
	require.ErrorIs(t, b.AlterBroker(false, []broker.Alteration{{Name: "num.partitions", Value: "4"}}, false), kerr.InvalidRequest)
}

// TestUnknownKeys: a key that is not known is named, and left out.
func TestUnknownKeys(t *testing.T) {
	var told strings.Builder
	b, err := broker.Open(t.TempDir(), broker.Options{Config: map[string]string{"no.such.key": "1", "num.partitions": "2"},
		Logger: slog.New(slog.NewTextHandler(&told, nil))})
	require.NoError(t, err)
	require.NoError(t, b.Close())
	assert.Contains(t, told.String(), "key=no.such.key")
	assert.NotContains(t, told.String(), "key=num.partitions")
}

// TestFetchWaits: a fetch is woken by an append, by the deletion of its topic and
// by the end of its context, not before.
func TestFetchWaits(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	create(t, b, "t", 2, nil)
	p0, _ := b.Partition("t", 0)
	p1, _ := b.Partition("t", 1)
	fetch := func(ctx context.Context, waiting chan<- struct{}) <-chan []broker.Fetched {
		done := make(chan []broker.Fetched, 1)
		go func() {
			done <- b.Fetch(ctx, broker.FetchOptions{MinBytes: 1, MaxWait: time.Hour,
				Waiting: func(ctx context.Context) (context.Context, func()) { close(waiting); return ctx, func() {} },
			}, []broker.FetchPartition{{Partition: p0}, {Partition: p1}})
		}()
		return done
	}
	waiting := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := fetch(ctx, waiting)
	<-waiting
	cancel()
	got := <-done
	assert.Nil(t, got[0].View)
	assert.NoError(t, got[0].Err)

	waiting = make(chan struct{})
	done = fetch(t.Context(), waiting)
	<-waiting
	produce(t, b, "t", 1, "x")
	got = <-done
	assert.Nil(t, got[0].View)
	require.NotNil(t, got[1].View)
	assert.EqualValues(t, 1, got[1].HighWatermark)
	broker.Release(got)

	l, err := p1.Log()
	require.NoError(t, err)
	require.NoError(t, l.DropBefore(1))
	waiting = make(chan struct{})
	go func() { <-waiting; _ = b.DeleteTopic("t") }()
	got = b.Fetch(t.Context(), broker.FetchOptions{MinBytes: 1, MaxWait: time.Hour,
		Waiting: func(ctx context.Context) (context.Context, func()) { close(waiting); return ctx, func() {} },
	}, []broker.FetchPartition{{Partition: p0}})
	assert.ErrorIs(t, got[0].Err, kerr.UnknownTopicOrPartition)
}

// TestFetchLimits: the first batch comes whatever its size, and after that the
// limits hold.
func TestFetchLimits(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	create(t, b, "t", 3, nil)
	var all []broker.FetchPartition
	for n := range int32(3) {
		p, _ := b.Partition("t", n)
		all = append(all, broker.FetchPartition{Partition: p, MaxBytes: 10})
		if n > 0 {
			produce(t, b, "t", n, strings.Repeat("x", 500))
			produce(t, b, "t", n, strings.Repeat("x", 500))
		}
	}
	got := b.Fetch(t.Context(), broker.FetchOptions{MaxBytes: 5}, all)
	assert.Nil(t, got[0].View, "it is empty")
	require.NotNil(t, got[1].View)
	assert.EqualValues(t, 1, got[1].View.Next())
	assert.Nil(t, got[2].View)
	broker.Release(got)

	all[1].Offset = 3
	got = b.Fetch(t.Context(), broker.FetchOptions{MinBytes: 1 << 20, MaxWait: time.Hour}, all)
	assert.ErrorIs(t, got[1].Err, kerr.OffsetOutOfRange, "which is an answer at once")
	assert.NoError(t, got[2].Err)
	broker.Release(got)
}

// TestConcurrent: topics are created, written, read, altered and deleted at the
// same time.
func TestConcurrent(t *testing.T) {
	b := open(t, t.TempDir(), map[string]string{"log.segment.delete.delay.ms": "0"})
	create(t, b, "stays", 2, nil)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 10 {
				name := fmt.Sprintf("t%d-%d", n, i)
				_, err := b.CreateTopic(t.Context(), broker.TopicSpec{Name: name})
				assert.NoError(t, err)
				_, err = b.Produce(t.Context(), name, 0, record.Record{Value: []byte("x")})
				assert.NoError(t, err)
				assert.NoError(t, b.AlterTopic("stays", []broker.Alteration{{Name: "retention.ms", Value: strconv.Itoa(1_000_000 + i)}}, false))
				assert.NoError(t, b.DeleteTopic(name))
			}
		})
		wg.Go(func() {
			for range 50 {
				_, err := b.Produce(t.Context(), "stays", int32(n%2), record.Record{Value: []byte("x")})
				assert.NoError(t, err)
				p, _ := b.Partition("stays", int32(n%2))
				got := b.Fetch(t.Context(), broker.FetchOptions{}, []broker.FetchPartition{{Partition: p}})
				assert.NoError(t, got[0].Err)
				broker.Release(got)
			}
		})
	}
	wg.Wait()
	assert.Len(t, b.Topics(), 1)
	p, _ := b.Partition("stays", 0)
	l, _ := p.Log()
	assert.EqualValues(t, 100, l.End())
}

// TestStartWritesNothing: a broker that was closed serves again without a sync for
// each of its partitions, and leads them in the epochs it had: a client that has
// seen a later one than the broker's would wait for it for ever (KIP-320).
func TestStartWritesNothing(t *testing.T) {
	mem := vfs.NewMem()
	with := func(fsys vfs.FS) *broker.Broker {
		b, err := broker.Open("data", broker.Options{Env: log.Env{FS: fsys}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		return b
	}
	b := with(mem)
	create(t, b, "t", 20, map[string]string{"segment.bytes": "1048576"})
	produce(t, b, "t", 7, "a", "b")
	mem = mem.Kill()
	require.NoError(t, with(mem).Close()) // in the epoch after the crash, of which there is no record

	faulty := vfs.NewFaulty(mem.Kill())
	syncs := faulty.Add(vfs.Rule{Op: vfs.OpSync | vfs.OpSyncDir})
	b = with(faulty)
	assert.LessOrEqual(t, syncs.Matched(), 2, "those of the mark of a clean shutdown")
	for number := range int32(20) {
		p, err := b.Partition("t", number)
		require.NoError(t, err)
		want := int32(0) // of an empty partition nothing can have been lost
		if number == 7 {
			want = 1
		}
		assert.Equal(t, want, p.LeaderEpoch(), number)
	}
	assert.Equal(t, []string{"a", "b"}, values(t, b, "t", 7, 0))
}
