package kafka

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestKafkaServesOurs: every variety is made a partition of a real broker, as
// if that had written it itself. Kafka's consumer reads every record and, under
// read_committed, none that was aborted; lookups by time and seeks go where the
// engine's go. The broker appends, and the engine reads all and appends; then
// the broker recovers all of it from the first byte, and serves it again.
func TestKafkaServesOurs(t *testing.T) {
	needsKafka(t)
	var clean, all []*written
	topics := map[string]map[string]string{}
	starts := map[string]int64{}
	for _, w := range writeOurs(t) {
		if w.unserved != "" {
			t.Logf("not served: %s: %s", w.topic, w.unserved)
			continue
		}
		topics[w.topic] = map[string]string{"retention.ms": "-1"}
		starts[w.topic] = w.first
		all = append(all, &w)
		if !w.unclean {
			clean = append(clean, &w)
		}
	}
	broker := &run.broker
	broker.start(t)
	createTopics(t, topics)
	broker.stop(t)
	for _, w := range clean {
		broker.put(t, w.topic, w.dir)
	}
	broker.setLogStarts(t, starts)

	// A clean stop is believed: Kafka reads through the indexes as we wrote
	// them, and takes our transaction indexes and producers for its own. The
	// varieties that have to be recovered come in the second round.
	broker.start(t)
	served(t, "believed", clean)
	for _, w := range clean {
		if w.name == "idempotent" {
			goesOn(t, w)
		}
	}
	more(t, "more", clean)
	served(t, "believed, and appended to", clean)
	broker.stop(t)
	taken := takenBack(t, "after Kafka appended", clean)

	for _, w := range all {
		if w.unclean {
			broker.put(t, w.topic, w.dir)
		}
	}
	broker.forgetCleanStop(t)
	broker.start(t)
	served(t, "recovered", all)
	more(t, "again", all)
	served(t, "recovered, and appended to", all)
	broker.stop(t)
	again := takenBack(t, "after Kafka recovered and appended", all)
	t.Logf("of %d directories read back, in two rounds: %v; %v", len(all), taken, again)
}

// served reads all of them with Kafka's consumer.
func served(t *testing.T, how string, list []*written) {
	t.Helper()
	began := time.Now()
	var names []string
	for _, w := range list {
		names = append(names, w.topic)
	}
	seen := consume(t, names...)
	n := 0
	for _, w := range list {
		t.Run(w.topic, func(t *testing.T) {
			saw := seen[w.topic]
			require.Equal(t, w.first, saw.uncommitted.begin, "log start offset")
			require.Equal(t, w.end, saw.uncommitted.end, "log end offset")
			saw.saw(t, w.all, w.stable)
			o := w.options
			o.Mode = log.ReadOnly
			l, err := log.Open(t.Context(), run.broker.partition(w.topic), o)
			require.NoError(t, err)
			defer l.Close()
			sameTimes(t, saw.uncommitted, l, w.timeless)
		})
		n += len(seen[w.topic].uncommitted.records)
	}
	t.Logf("%s: Kafka's consumer read %d records of %d directories, twice, in %v", how, n, len(list), time.Since(began).Round(time.Millisecond))
}

// more has the broker append to topics: in every codec, an aborted and a
// committed transaction, each over all topics of that codec.
func more(t *testing.T, seed string, topics []*written) {
	t.Helper()
	for i, codec := range codecs {
		var chosen []*written
		for j := i; j < len(topics); j += len(codecs) {
			chosen = append(chosen, topics[j])
		}
		c := client(t, kgo.ProducerBatchCompression(codec), kgo.TransactionalID(fmt.Sprintf("ours-%s-%d", seed, i)))
		for k, outcome := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
			var all []*kgo.Record
			for _, w := range chosen {
				list := produced(w.topic, 20, 100, fmt.Sprintf("%s %d", seed, k))
				list[3].Headers = []kgo.RecordHeader{{Key: "null"}, {Key: "h", Value: []byte("v")}}
				list[4].Value, list[5].Key = nil, nil
				all = append(all, list...)
			}
			transaction(t, c, outcome, all...)
			for j, w := range chosen {
				for _, r := range all[j*20 : j*20+20] {
					f := line(fromClient(r))
					f.aborted = outcome == kgo.TryAbort
					w.all = append(w.all, f)
				}
				w.end = all[j*20+19].Offset + 2
				if w.name != "transactions-open" {
					w.stable = w.end
				}
			}
		}
		c.Close()
	}
}

var codecs = []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}

// fromClient is a record as the broker took it.
func fromClient(r *kgo.Record) record.Record {
	own := record.Record{Offset: r.Offset, Time: r.Timestamp, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		own.Headers = append(own.Headers, record.Header{Key: h.Key, Value: h.Value})
	}
	return own
}

// takenBack: the engine reads what Kafka left, verifies it, appends and reads
// that, too; and Kafka's tool has nothing to say against the result.
func takenBack(t *testing.T, when string, list []*written) counts {
	t.Helper()
	byDepth := map[depth][]string{}
	for _, w := range list {
		dir := run.broker.partition(w.topic)
		byDepth[w.depth()] = append(byDepth[w.depth()], dir)
		t.Run(w.topic, func(t *testing.T) {
			o := w.options
			l, err := log.Open(t.Context(), dir, o)
			require.NoError(t, err)
			require.Equal(t, w.first, l.First(), "log start offset")
			require.Equal(t, w.end, l.End(), "log end offset")
			holds(t, when, l, w.all, w.stable)
			added := []record.Record{{Time: time.UnixMilli(time.Now().UnixMilli()), Value: []byte(when)}, {Time: time.UnixMilli(startTime), Key: []byte("k")}}
			if o.Compaction != nil {
				added[0].Key = []byte{} // a compacted log takes no record without one
			}
			first, err := l.Append(added...)
			require.NoError(t, err)
			w.end = l.End()
			if w.name != "transactions-open" {
				w.stable = w.end
			}
			for i, r := range added {
				r.Offset = first + int64(i)
				if r.TimestampType = o.TimestampType; r.TimestampType == record.LogAppendTime {
					got, err := l.Read(r.Offset)
					require.NoError(t, err)
					r.Time = got.Time
				}
				w.all = append(w.all, line(r))
			}
			require.NoError(t, l.Close())
			v, err := log.Verify(t.Context(), dir, o, nil)
			require.NoError(t, err)
			require.Empty(t, v.Faults)
			require.Empty(t, v.Notes)
		})
	}
	var sum counts
	for how, dirs := range byDepth {
		for dir, d := range dump(t, dirs, how.flags()...) {
			i := slices.IndexFunc(list, func(w *written) bool { return run.broker.partition(w.topic) == dir })
			t.Run(filepath.Base(dir), func(t *testing.T) {
				d.same(t, render(t, dir, how))
				if !list[i].gaps {
					require.Empty(t, complaintsButStarts(d.complaints))
				}
			})
			sum.add(d)
		}
	}
	return sum
}
