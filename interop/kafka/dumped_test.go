package kafka

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
)

// written is a directory that the engine wrote, a variety at an index interval.
type written struct {
	variety
	topic   string
	dir     string
	all     []found
	options log.Options
	first   int64
	end     int64
	stable  int64
}

// ours are all of them, written once for all tests.
var ours []written

// writeOurs writes every variety with every index interval.
func writeOurs(t *testing.T) []written {
	t.Helper()
	if ours != nil {
		return ours
	}
	var list []written
	chosen, err := regexp.Compile(*only)
	require.NoError(t, err)
	for _, v := range varieties() {
		if !chosen.MatchString(v.name) {
			continue
		}
		intervals := v.intervals
		if intervals == nil {
			intervals = indexIntervals
		}
		for _, interval := range intervals {
			topic := "ours-" + v.name + map[int64]string{1 << 10: "-1k", 4 << 10: "-4k"}[interval]
			dir := filepath.Join(run.dir, "ours", topic)
			v.o.IndexInterval = interval
			if v.o.SegmentBytes == 0 {
				v.o.SegmentBytes = 64 << 10
			}
			w := newWriter(t, dir, v.o)
			v.write(w)
			stable := int64(-1)
			if w.l != nil {
				stable = w.stable()
			}
			w.close()
			o := v.o
			o.Mode = log.ReadOnly
			l, err := log.Open(t.Context(), dir, o)
			require.NoError(t, err)
			if stable < 0 {
				stable = l.End()
			}
			holds(t, topic, l, w.all, stable)
			list = append(list, written{variety: v, topic: topic, dir: dir, all: w.all, options: v.o, first: l.First(), end: l.End(), stable: stable})
			require.NoError(t, l.Close())
		}
	}
	ours = list
	return list
}

// holds: the engine gives those records, and knows which of them were aborted.
func holds(t *testing.T, what string, l *log.Log, all []found, stable int64) {
	t.Helper()
	sameRecords(t, "the engine, of "+what, all, readAll(t, l))
	require.Equal(t, stable, l.LastStable(), "last stable offset, of %s", what)
	sameRecords(t, "the engine, committed, of "+what, committed(all, stable), readCommitted(t, l))
	sameRecords(t, "a fetch from the engine, committed, of "+what, committed(all, stable), byAbortedIndex(t, l))
}

// TestDumpLogSegmentsSaysOfOursWhatWeSay: of every variety, Kafka's tool prints
// every batch, record and index entry as the engine reads them, and not one
// complaint beside gaps in the offsets that were made on purpose.
func TestDumpLogSegmentsSaysOfOursWhatWeSay(t *testing.T) {
	needsKafka(t)
	began := time.Now()
	byDepth := map[depth][]string{}
	var tidy []string
	list := writeOurs(t)
	t.Logf("written in %v", time.Since(began).Round(time.Millisecond))
	for _, w := range list {
		if w.untidy {
			continue
		}
		tidy = append(tidy, w.dir)
		byDepth[w.depth()] = append(byDepth[w.depth()], w.dir)
	}
	dumps := map[string]*dumped{}
	for how, dirs := range byDepth {
		for dir, d := range dump(t, dirs, how.flags()...) {
			dumps[dir] = d
		}
	}
	var sum counts
	for _, w := range list {
		if w.untidy {
			continue
		}
		t.Run(w.topic, func(t *testing.T) {
			d := dumps[w.dir]
			d.same(t, render(t, w.dir, w.depth()))
			if !w.gaps {
				require.Empty(t, complaintsButStarts(d.complaints))
			}
			sum.add(d)
			holdsIndexed(t, w, d)
		})
	}
	t.Logf("DumpLogSegments found nothing wrong in %v", sum)

	sane := dump(t, tidy, "--index-sanity-check")
	verified := dump(t, tidy, "--verify-index-only")
	for _, dir := range tidy {
		for name, lines := range sane[dir].lines {
			if ext := filepath.Ext(name); ext != ".index" && ext != ".timeindex" {
				continue
			}
			require.Len(t, lines, 1, "%s: %s", dir, name)
			require.Contains(t, []string{name + " passed sanity check.", name + " is empty."}, lines[0], dir)
		}
		require.Empty(t, sane[dir].complaints, dir)
		require.Empty(t, verified[dir].complaints, dir)
	}
}

func (v *variety) depth() depth {
	if v.binary {
		return deep
	}
	return full
}

// complaintsButStarts leaves out what is said of the start of segments.
func complaintsButStarts(lines []string) []string {
	var list []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "Non-consecutive offsets in ") && !strings.HasPrefix(l, "  -1 is followed by ") {
			list = append(list, l)
		}
	}
	return list
}

// complaintsButGaps leaves out what is said of gaps in offsets.
func complaintsButGaps(lines []string) []string {
	var list []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "Non-consecutive offsets in ") && !strings.Contains(l, " is followed by ") {
			list = append(list, l)
		}
	}
	return list
}

// holdsIndexed: every record written is in the dump, and a segment is indexed
// at least every few intervals, so that there was something to check.
func holdsIndexed(t *testing.T, w written, d *dumped) {
	t.Helper()
	var records, entries, bytes, largest int64
	for name, lines := range d.lines {
		for _, l := range lines {
			switch {
			case strings.HasPrefix(l, "| offset: ") && !strings.Contains(l, " endTxnMarker: "):
				records++
			case strings.HasPrefix(l, "offset: "):
				entries++
			case strings.HasPrefix(l, "baseOffset: "):
				n := batchSize(t, l)
				bytes += n
				largest = max(largest, n)
			}
		}
		if strings.HasSuffix(name, ".log") {
			bytes -= w.options.IndexInterval + largest // the first ones have no entry
		}
	}
	if w.first == 0 {
		require.EqualValues(t, len(w.all), records)
	}
	require.GreaterOrEqual(t, records, int64(len(w.all)))
	require.GreaterOrEqual(t, entries, bytes/(w.options.IndexInterval+2*largest), "offset index entries")
}
