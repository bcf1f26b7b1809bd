package kafka

import (
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
)

// reading is what Kafka's consumer saw of a partition, under one isolation.
type reading struct {
	begin, end, position int64
	records              []found
	seeks                [][2]int64 // sought, first record found there; -1 none
	times                [][2]int64 // asked, offset answered; -1 none
}

type readings struct{ uncommitted, committed *reading }

// consume reads topics with Kafka's consumer.
func consume(t *testing.T, topics ...string) map[string]readings {
	t.Helper()
	sort.Strings(topics)
	out, _ := run.judge.tool(t, "Reader", append([]string{run.broker.Addr()}, topics...)...)
	all := map[string]readings{}
	var at *reading
	for text := range strings.Lines(out) {
		text = strings.TrimSuffix(text, "\n")
		fields := strings.Split(text, "\t")
		number := func(i int) int64 {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			require.NoError(t, err, "%q", text)
			return n
		}
		switch {
		case fields[0] == "B" && len(fields) == 5:
			at = &reading{begin: number(3), end: number(4)}
			both := all[fields[1]]
			if fields[2] == "read_committed" {
				both.committed = at
			} else {
				both.uncommitted = at
			}
			all[fields[1]] = both
		case fields[0] == "R" && len(fields) == 7:
			at.records = append(at.records, found{offset: number(1), time: number(2), text: strings.Join(fields[1:], "\t")})
		case fields[0] == "S" && len(fields) == 3:
			at.seeks = append(at.seeks, [2]int64{number(1), number(2)})
		case fields[0] == "T" && len(fields) == 4:
			asked := all[fields[1]].uncommitted
			asked.times = append(asked.times, [2]int64{number(2), number(3)})
		case fields[0] == "E" && len(fields) == 4:
			at.position = number(3)
		default:
			t.Fatalf("Reader printed %q", text)
		}
	}
	for _, topic := range topics {
		require.NotNil(t, all[topic].uncommitted, topic)
		require.NotNil(t, all[topic].committed, topic)
	}
	return all
}

// saw holds what the consumer saw against what there is: all of it, and
// without what was aborted.
func (r readings) saw(t *testing.T, want []found, stable int64) {
	t.Helper()
	sameRecords(t, "Kafka's consumer, read_uncommitted", want, r.uncommitted.records)
	sameRecords(t, "Kafka's consumer, read_committed", committed(want, stable), r.committed.records)
	require.Equal(t, stable, r.committed.end, "last stable offset")
	for _, one := range []*reading{r.uncommitted, r.committed} {
		require.GreaterOrEqual(t, one.position, one.end)
		for _, seek := range one.seeks {
			first := int64(-1)
			if behind := from(one.records, seek[0]); len(behind) > 0 {
				first = behind[0].offset
			}
			require.Equal(t, first, seek[1], "first record found from %d on", seek[0])
		}
	}
}

// agrees holds an open log against the consumer's whole reading: offsets,
// records, times.
func (r readings) agrees(t *testing.T, l *log.Log) {
	t.Helper()
	saw := r.uncommitted
	require.Equal(t, saw.begin, l.First(), "log start offset")
	require.Equal(t, saw.end, l.End(), "log end offset")
	sameRecords(t, "the engine", saw.records, readAll(t, l))
	sameTimes(t, saw, l, false)
}

// sameTimes holds lookups by time against a look at every record, and against
// what Kafka answered. Kafka takes a transaction's marker for a record here, so
// its answer may be a marker that lies before the first record that is as late.
// With timeless, Kafka may have looked into the wrong segment only.
func sameTimes(t *testing.T, saw *reading, l *log.Log, timeless bool) {
	t.Helper()
	isRecord := map[int64]bool{}
	for _, f := range saw.records {
		isRecord[f.offset] = true
	}
	for _, pair := range saw.times {
		want := l.End()
		for _, f := range saw.records {
			if f.time >= pair[0] {
				want = f.offset
				break
			}
		}
		got, err := l.OffsetAt(time.UnixMilli(pair[0]))
		require.NoError(t, err)
		require.Equal(t, want, got, "first offset at or after time %d", pair[0])
		kafka := pair[1]
		if kafka < 0 {
			kafka = l.End()
		}
		if kafka != want && !timeless {
			require.False(t, isRecord[kafka], "Kafka says %d is the first offset at or after time %d, we %d", kafka, pair[0], want)
			require.Less(t, kafka, want, "first offset at or after time %d", pair[0])
		}
	}
}
