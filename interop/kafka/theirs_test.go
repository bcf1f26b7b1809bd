package kafka

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// killedTopic is written to when the broker is killed, by an idempotent
// producer and within a transaction that never ends.
const killedTopic = "theirs-killed"

// TestOursReadsKafkas: a real broker, driven by Kafka's own tools and clients,
// is killed with kill -9, started again and stopped cleanly. What it leaves
// each time the engine opens: records, offsets, aborted transactions, log start
// and times are what Kafka's consumer saw. What the killed broker had
// acknowledged is there before Kafka itself has recovered it.
func TestOursReadsKafkas(t *testing.T) {
	needsKafka(t)
	broker := &run.broker
	broker.start(t)
	topics := map[string]map[string]string{killedTopic: maps.Clone(smallSegments)}
	list := workloads()
	for _, w := range list {
		settings := maps.Clone(smallSegments)
		maps.Copy(settings, w.settings)
		topics["theirs-"+w.name] = settings
	}
	createTopics(t, topics)
	names := slices.Sorted(maps.Keys(topics))
	for _, w := range list {
		began := time.Now()
		w.drive(t, "theirs-"+w.name)
		t.Logf("%s in %v", w.name, time.Since(began).Round(time.Millisecond))
	}
	awaitQuiet(t)
	before := consume(t, names...)

	acknowledged := killWhileProducing(t)
	crashed := filepath.Join(run.dir, "crashed")
	for _, topic := range names {
		copyInto(t, broker.partition(topic), filepath.Join(crashed, topic+"-0"))
	}
	copyInto(t, broker.Data(), crashed) // its checkpoints
	broker.start(t)
	awaitQuiet(t)
	after := consume(t, names...)
	broker.stop(t)

	var sum, killedSum tally
	for _, topic := range names {
		t.Run("killed/"+topic, func(t *testing.T) {
			dir := filepath.Join(crashed, topic+"-0")
			l, err := log.Open(t.Context(), dir, log.Options{})
			require.NoError(t, err)
			defer l.Close()
			if topic == killedTopic {
				holdsKilled(t, l, acknowledged, after[topic])
			} else {
				holdsSeen(t, l, before[topic])
			}
			killedSum.add(l)
		})
	}
	for _, topic := range names {
		t.Run("stopped/"+topic, func(t *testing.T) {
			dir := filepath.Join(run.dir, "stopped", topic+"-0")
			copyInto(t, broker.Data(), filepath.Dir(dir))
			copyInto(t, broker.partition(topic), dir)
			l, err := log.Open(t.Context(), dir, log.Options{})
			require.NoError(t, err)
			holdsSeen(t, l, after[topic])
			sum.add(l)
			opensForWriting(t, l, dir)
		})
	}
	for _, w := range list {
		if w.left != nil {
			t.Run("left/"+w.name, func(t *testing.T) { w.left(t, after["theirs-"+w.name], broker.partition("theirs-"+w.name)) })
		}
	}
	var dirs []string
	for _, topic := range names {
		dirs = append(dirs, broker.partition(topic))
	}
	copies, originals := replicated(t, dirs, deep.flags()...)
	t.Logf("killed: %v; stopped: %v", killedSum, sum)
	t.Logf("as Kafka wrote them: %v; copied as a follower does: %v", originals, copies)
}

// awaitQuiet waits until the cleaner has had its way and the checkpoints say
// what is: nothing changes from one look to the next.
func awaitQuiet(t *testing.T) {
	t.Helper()
	look := func() string {
		text := ""
		files := append(glob(t, run.broker.partition("theirs-*"), "*"), run.broker.logStartsFile(), filepath.Join(run.broker.Data(), "cleaner-offset-checkpoint"))
		for _, name := range files {
			if info, err := os.Stat(name); err == nil && !strings.HasSuffix(name, "-checkpoint") {
				text += fmt.Sprintln(name, info.Size(), info.ModTime())
			} else if err == nil {
				content, _ := os.ReadFile(name)
				text += string(content)
			}
		}
		return text
	}
	last := ""
	require.Eventually(t, func() bool {
		now := look()
		same := now == last
		last = now
		return same
	}, time.Minute, 1500*time.Millisecond, "the broker does not rest")
}

// holdsSeen holds an open log against what Kafka's consumer saw.
func holdsSeen(t *testing.T, l *log.Log, saw readings) {
	t.Helper()
	saw.agrees(t, l)
	require.Equal(t, saw.committed.end, l.LastStable(), "last stable offset")
	sameRecords(t, "the engine, committed", saw.committed.records, readCommitted(t, l))
	sameRecords(t, "a fetch from the engine, committed", saw.committed.records, byAbortedIndex(t, l))
}

// holdsKilled: all that was acknowledged is there, at its offset, and all that
// Kafka itself recovered.
func holdsKilled(t *testing.T, l *log.Log, acknowledged []found, saw readings) {
	t.Helper()
	got := readAll(t, l)
	byOffset := map[int64]string{}
	for _, f := range got {
		byOffset[f.offset] = f.text
	}
	for _, f := range acknowledged {
		require.Equal(t, f.text, byOffset[f.offset], "acknowledged")
	}
	sameRecords(t, "what the killed broker left", saw.uncommitted.records, got)
	require.LessOrEqual(t, l.End(), saw.uncommitted.end)
	require.Less(t, l.LastStable(), l.End(), "a transaction was open")
}

// killWhileProducing kills the broker while it is being written to, and
// returns what it had acknowledged.
func killWhileProducing(t *testing.T) []found {
	t.Helper()
	open := client(t, kgo.TransactionalID("killed-in-a-transaction"), kgo.TransactionTimeout(10*time.Minute))
	require.NoError(t, open.BeginTransaction())
	var acknowledged []found
	list := produced(killedTopic, 10, 50, "open")
	send(t, open, list...)
	for _, r := range list {
		acknowledged = append(acknowledged, line(fromClient(r)))
	}
	c := client(t, kgo.ProducerLinger(0))
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	enough := make(chan struct{})
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			r := produced(killedTopic, 1, i*17%300, fmt.Sprint(i))[0]
			c.Produce(ctx, r, func(r *kgo.Record, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					if acknowledged = append(acknowledged, line(fromClient(r))); len(acknowledged) == 3000 {
						close(enough)
					}
				}
			})
		}
	}()
	select {
	case <-enough:
	case <-time.After(time.Minute):
		t.Error("3000 records were not acknowledged within a minute")
	}
	run.broker.Kill()
	cancel()
	c.Close() // or it goes on when the broker is back
	open.Close()
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(acknowledged)
}

// opensForWriting: the engine appends behind what Kafka wrote, durably, and
// finds all of it again, repairing nothing.
func opensForWriting(t *testing.T, l *log.Log, dir string) {
	t.Helper()
	want := readAll(t, l)
	first, err := l.AppendSync(t.Context(), record.Record{Time: time.UnixMilli(startTime), Value: []byte("ours")})
	require.NoError(t, err)
	want = append(want, line(record.Record{Offset: first, Time: time.UnixMilli(startTime), Value: []byte("ours")}))
	require.NoError(t, l.Close())
	v, err := log.Verify(t.Context(), dir, log.Options{}, nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	l, err = log.Open(t.Context(), dir, log.Options{})
	require.NoError(t, err)
	defer l.Close()
	require.Empty(t, l.Recovery().Actions)
	sameRecords(t, "opened again", want, readAll(t, l))
}

// tally adds up logs.
type tally struct{ dirs, segments, aborted int }

func (c *tally) add(l *log.Log) {
	c.dirs++
	c.segments += len(l.Segments())
	c.aborted += len(l.Aborted(l.First(), l.End()))
}

func (c tally) String() string {
	return fmt.Sprintf("%d directories, %d segments, %d aborted transactions", c.dirs, c.segments, c.aborted)
}
