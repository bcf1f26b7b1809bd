package kafka

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/retention/compact"
)

var seeds = flag.Uint64("seeds", 2, "how many histories by chance the cleaners are given, of each kind")

// cleanSegmentBytes is the size of segments that are cleaned.
const cleanSegmentBytes = 16 << 10

// TestCleanersAgree: Kafka's cleaner, in a running broker, and ours are given
// the same partitions, round after round, and have to leave the same: segments,
// batches, records, horizons, transaction indexes, times of files, and their note
// of how far they came. What one of them copies as it is, so does the other.
//
// Ours is told the time at which Kafka cleaned, which the horizons it set tell,
// and so has to set the same ones.
func TestCleanersAgree(t *testing.T) {
	needsKafka(t)
	chosen, err := regexp.Compile(*only)
	require.NoError(t, err)
	var list []*cleaning
	var topics []string
	created := map[string]map[string]string{}
	for _, c := range cleanings() {
		if !chosen.MatchString(c.name) {
			continue
		}
		c.topic = "cleaned-" + c.name
		settings := map[string]string{"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "1", // never
			"internal.segment.bytes": strconv.Itoa(cleanSegmentBytes), "min.compaction.lag.ms": strconv.FormatInt(c.minLag.Milliseconds(), 10)}
		maps.Copy(settings, c.settings)
		created[c.topic] = settings
		list, topics = append(list, &c), append(topics, c.topic)
	}
	if len(list) == 0 {
		t.Skip("none chosen")
	}
	broker := &run.broker
	broker.start(t)
	createTopics(t, created)
	place(t, list)
	var sum agreement
	for round := range cleaningRounds {
		began := time.Now()
		open := map[string]int64{}
		for _, c := range list {
			if c.drive != nil {
				c.drive(&driver{t: t, c: c, round: round})
			}
			if c.open > 0 {
				open[c.topic] = c.open - 1
			}
		}
		awaitMarkers(t, topics, open)
		driven := time.Since(began)
		cleanRound(t, list, topics, round, &sum)
		t.Logf("round %d: written in %v, %v in all", round, driven.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	}
	t.Logf("both cleaners, of %d partitions in %d rounds: %v", len(list), cleaningRounds, sum)
}

// place has the engine write what it is to write, and gives it to the broker as
// its own partitions.
func place(t *testing.T, list []*cleaning) {
	t.Helper()
	broker, placed := &run.broker, false
	for _, c := range list {
		if c.write == nil {
			continue
		}
		dir := filepath.Join(run.dir, "cleaning", "written", c.topic)
		w := newWriter(t, dir, log.Options{SegmentBytes: cleanSegmentBytes, IndexInterval: 4 << 10, Compaction: &byMinute})
		c.write(w)
		w.close()
		if !placed {
			broker.stop(t)
			placed = true
		}
		broker.put(t, c.topic, dir)
		if c.alter != nil {
			c.alter(t, broker.partition(c.topic))
		}
	}
	broker.start(t)
}

// cleanRound has both cleaners clean everything once.
func cleanRound(t *testing.T, list []*cleaning, topics []string, round int, sum *agreement) {
	t.Helper()
	broker := &run.broker
	dirs := filepath.Join(run.dir, "cleaning", strconv.Itoa(round))
	before, ours, theirs := filepath.Join(dirs, "before"), filepath.Join(dirs, "ours"), filepath.Join(dirs, "theirs")
	copyTopics(t, broker.Data(), before, topics)
	copyTopics(t, broker.Data(), ours, topics)

	byName := map[string]*cleaning{}
	now := time.Now()
	for _, c := range list {
		byName[c.topic+"-0"] = c
	}
	m, err := log.OpenManager(t.Context(), ours, log.ManagerOptions{
		Log: log.Options{SegmentBytes: cleanSegmentBytes, IndexInterval: 4 << 10, Env: log.Env{Now: func() time.Time { return now }}},
		Each: func(name string, o log.Options) log.Options {
			c := byName[name]
			o.Compaction = &compact.Options{MinDirtyRatio: 1e-9, MinLag: c.minLag, DeleteRetention: max(c.retention[round], 1), MapBytes: dedupeBytes}
			return o
		}})
	require.NoError(t, err)
	plans := map[string]compact.Plan{}
	for _, c := range list {
		l, err := m.Log(c.topic + "-0")
		require.NoError(t, err)
		plans[c.topic+"-0"], err = l.Dirty()
		require.NoError(t, err)
	}

	go4it, stop := map[string]map[string]string{}, map[string]map[string]string{}
	for _, c := range list {
		go4it[c.topic] = map[string]string{"min.cleanable.dirty.ratio": "0", "delete.retention.ms": strconv.FormatInt(c.retention[round].Milliseconds(), 10)}
		stop[c.topic] = map[string]string{"min.cleanable.dirty.ratio": "1"}
	}
	began := time.Now().Truncate(time.Millisecond)
	alterTopics(t, go4it)
	var late string
	require.Eventually(t, func() bool {
		late = ""
		for _, c := range list {
			if got, p := cleanedTo(t, broker.Data(), c.topic), plans[c.topic+"-0"]; p.Skip == "" && got < p.End {
				late = fmt.Sprintf("%s to %d; our plan is %+v", c.topic, got, p)
			}
		}
		return late == ""
	}, 90*time.Second, 20*time.Millisecond, "Kafka has not cleaned: %s", lazily(func() string { return late }))
	alterTopics(t, stop)
	ended := time.Now()
	copyTopics(t, broker.Data(), theirs, topics)

	for _, c := range list {
		// When Kafka cleaned.
		name := c.topic + "-0"
		c.cleaned, c.horizons = ended, newHorizons(t, batchesIn(t, filepath.Join(before, name)), batchesIn(t, filepath.Join(theirs, name)))
		if len(c.horizons) > 0 {
			c.cleaned = time.UnixMilli(c.horizons[0]).Add(-c.retention[round])
			for _, h := range c.horizons {
				at := time.UnixMilli(h).Add(-c.retention[round])
				require.False(t, at.Before(began) || at.After(ended), "%s: a horizon of %v, cleaned from %v to %v", c.topic, h, began, ended)
			}
		}
		if !c.severalRounds {
			require.LessOrEqual(t, len(c.horizons), 1, "%s: horizons of one cleaning", c.topic)
		}
		c.ours = c.cleaned.Add(c.retention[round]).UnixMilli()
		now, c.skipped = c.cleaned, plans[name].Skip != ""
		if !c.skipped {
			r, err := m.Compact(t.Context(), name)
			require.NoError(t, err, c.topic)
			sum.dropped += r.Dropped
		}
	}
	require.NoError(t, m.Close())
	noted, err := kafkadir.ReadOffsets(vfs.OS, ours, kafkadir.CleanerFile)
	require.NoError(t, err)
	for _, c := range list {
		t.Run(fmt.Sprintf("round %d/%s", round, c.name), func(t *testing.T) {
			name := c.topic + "-0"
			require.Equal(t, cleanedTo(t, theirs, c.topic), noted[name], "cleaned up to")
			agrees(t, c, round, filepath.Join(before, name), filepath.Join(ours, name), filepath.Join(theirs, name), sum)
		})
	}
}

// lazily is text that is made when it is printed.
type lazily func() string

func (f lazily) String() string { return f() }
