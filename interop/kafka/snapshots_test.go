package kafka

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/seglog/seglog/internal/producers"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

// TestProducerSnapshotsAgree: what Kafka's tool prints of our snapshots of
// producers is what the engine knows of them, field by field, and what the
// engine reads in Kafka's snapshots is what the tool prints of these.
func TestProducerSnapshotsAgree(t *testing.T) {
	needsKafka(t)
	var dirs []string
	for name, write := range map[string]func(*writer){
		"idempotent": func(w *writer) { idempotent(w, 0) },
		"wrapped":    func(w *writer) { idempotent(w, 1<<31-500) },
		"markers":    transactions(how{client: true}),
		"raised":     transactions(how{client: true, raised: true}),
		"open":       transactions(how{raised: true, open: true}),
	} {
		w := newWriter(t, filepath.Join(run.dir, "snapshots", name+"-0"), log.Options{SegmentBytes: 64 << 10})
		write(w)
		w.close()
		dirs = append(dirs, w.dir)
	}
	const topic = "snapshots"
	broker := &run.broker
	broker.start(t)
	createTopics(t, map[string]map[string]string{topic: smallSegments})
	interleaved(t, topic)
	for i := range 6 {
		send(t, client(t), produced(topic, 5+i, 80, "idempotent")...)
	}
	open := client(t, kgo.TransactionalID("snapshot-open"), kgo.TransactionTimeout(10*time.Minute))
	require.NoError(t, open.BeginTransaction())
	send(t, open, produced(topic, 3, 80, "open")...)
	broker.stop(t)
	theirs := filepath.Join(run.dir, "snapshots-theirs", topic+"-0")
	copyInto(t, broker.partition(topic), theirs)
	dirs = append(dirs, theirs)

	all, files := dump(t, dirs), 0
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			l, err := log.Open(t.Context(), dir, log.Options{Mode: log.ReadOnly})
			require.NoError(t, err)
			defer l.Close()
			known := false
			for name, lines := range all[dir].lines {
				base, suffix, _ := segment.ParseName(name)
				if suffix != segment.SnapshotSuffix {
					continue
				}
				printed := producersPrinted(t, lines)
				content, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
				table, err := producers.Decode(content, base)
				require.NoError(t, err)
				require.Equal(t, printed, table.Producers(), name)
				files++
				if base == l.End() {
					known = true
					require.NotEmpty(t, printed)
					require.Equal(t, printed, l.Producers(), "%s, and what the log knows", name)
				}
			}
			require.True(t, known, "no snapshot at the end, %d", l.End())
		})
	}
	t.Logf("%d snapshots of %d directories", files, len(dirs))
}

// producersPrinted reads what DumpLogSegments prints of a snapshot, by id.
func producersPrinted(t *testing.T, lines []string) []log.ProducerState {
	t.Helper()
	list := []log.ProducerState{}
	for _, l := range lines {
		words := strings.Fields(l)
		require.Zero(t, len(words)%2, l)
		fields := map[string]int64{"lastSequence": -1, "lastOffset": -1}
		for i := 0; i < len(words); i += 2 {
			value := strings.TrimSuffix(strings.TrimPrefix(words[i+1], "OptionalLong["), "]")
			if value == "OptionalLong.empty" {
				value = "-1"
			}
			n, err := strconv.ParseInt(value, 10, 64)
			require.NoError(t, err, l)
			fields[strings.TrimSuffix(words[i], ":")] = n
		}
		x := log.ProducerState{ID: fields["producerId"], Epoch: int16(fields["producerEpoch"]), LastSequence: int32(fields["lastSequence"]),
			LastOffset: fields["lastOffset"], LastTimestamp: fields["lastTimestamp"], CoordinatorEpoch: int32(fields["coordinatorEpoch"]), TxnFirst: fields["currentTxnFirstOffset"]}
		if last, ok := fields["timestamp"]; ok {
			require.Equal(t, x.LastTimestamp, last, l)
			require.Equal(t, (fields["lastSequence"]-fields["offsetDelta"])&(1<<31-1), fields["firstSequence"], fmt.Sprint(l))
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b log.ProducerState) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return list
}
