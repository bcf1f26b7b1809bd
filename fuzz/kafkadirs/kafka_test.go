package kafkadirs_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// TestKafkaDirsMeasured holds what the engine reads against what the README
// measured of each directory found in the wild.
func TestKafkaDirsMeasured(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	for _, m := range readReadme(t, folder) {
		t.Run(m.dir, func(t *testing.T) {
			dir := testkit.CopyTree(t, filepath.Join(folder, m.dir))
			if m.magic["2"] == 0 {
				refusesOldFormat(t, dir)
				return
			}
			before := testkit.Snapshot(t, dir)
			l := open(t, dir, readOnly(small()))
			holdsMeasures(t, l, m)
			require.NoError(t, l.Close())
			require.Equal(t, before, testkit.Snapshot(t, dir), "opened read-only, and changed")
			verify(t, dir, small())
			appendAndReopen(t, dir, small())
		})
	}
}

// holdsMeasures compares a log with the README's lines about it.
func holdsMeasures(t *testing.T, l *log.Log, m measured) {
	codecs, types, control := map[string]int{}, map[string]int{}, 0
	batches := headersOf(t, l)
	for _, h := range batches {
		codecs[h.Codec().String()]++
		types[map[record.TimestampType]string{record.CreateTime: "create", record.LogAppendTime: "logappend"}[h.TimestampType()]]++
		if h.Control() {
			control++
		}
	}
	require.Equal(t, m.codecs, codecs)
	require.Equal(t, m.types, types)
	require.Equal(t, m.control, control)

	infos := l.Segments()
	require.Len(t, infos, len(m.segments))
	for i, s := range m.segments {
		got := measuredSegment{base: infos[i].Base, bytes: infos[i].Bytes, first: -1, index: s.index, times: s.times}
		maxTime := int64(-1)
		for _, h := range batches {
			if h.BaseOffset < infos[i].Base || h.BaseOffset >= infos[i].Next {
				continue
			}
			if got.first < 0 {
				got.first = h.BaseOffset
			}
			got.batches++
			got.records += int64(h.Count)
			got.last = h.LastOffset()
			maxTime = max(maxTime, h.MaxTimestamp)
		}
		for r, err := range l.From(max(infos[i].Base, l.First())) {
			require.NoError(t, err)
			if r.Offset >= infos[i].Next {
				break
			}
			if len(r.Headers) > 0 {
				got.headers++
			}
			if r.Value == nil {
				got.nulls++
			}
		}
		require.Equal(t, s, got)
		require.Equal(t, s.last+1, infos[i].Next)
		require.Equal(t, maxTime, infos[i].MaxTime.UnixMilli(), "largest time of segment %d", s.base)
		holdsIndexes(t, l.Dir(), s, maxTime)
	}
	require.Equal(t, m.segments[len(m.segments)-1].last+1, l.End())
}

// holdsIndexes looks up through Kafka's index files as they are.
func holdsIndexes(t *testing.T, dir string, s measuredSegment, maxTime int64) {
	for suffix, want := range map[string]int64{segment.IndexSuffix: s.index, segment.TimeIndexSuffix: s.times} {
		content, err := os.ReadFile(filepath.Join(dir, segment.Name(s.base, suffix)))
		if want < 0 {
			require.ErrorIs(t, err, os.ErrNotExist)
			continue
		}
		require.NoError(t, err)
		if suffix == segment.IndexSuffix {
			x := index.NewOffsets(s.base, content, len(content)/index.OffsetEntrySize)
			require.EqualValues(t, want, x.Len())
			require.Equal(t, x.Len(), x.Check(s.bytes, s.last+1))
			continue
		}
		x := index.NewTimes(s.base, content, len(content)/index.TimeEntrySize)
		require.EqualValues(t, want, x.Len())
		require.Equal(t, x.Len(), x.Check(s.last+1))
		require.Equal(t, maxTime, x.Last().Timestamp)
	}
}

// refusesOldFormat: magic 0 and 1 are refused by their own error, never called
// corrupt, and left as they are.
func refusesOldFormat(t *testing.T, dir string) {
	before := testkit.Snapshot(t, dir)
	for _, mode := range []log.Mode{log.ReadOnly, log.ReadWrite, log.Repair} {
		o := small()
		o.Mode = mode
		_, err := log.Open(t.Context(), dir, o)
		require.ErrorIs(t, err, record.ErrUnsupportedMagic)
		require.NotErrorIs(t, err, record.ErrCorrupt)
		require.Contains(t, err.Error(), ".log at position 0")
	}
	_, err := log.Verify(t.Context(), dir, small(), nil)
	require.ErrorIs(t, err, record.ErrUnsupportedMagic)
	require.NoError(t, os.Remove(filepath.Join(dir, log.LockName)))
	require.Equal(t, before, testkit.Snapshot(t, dir))
}

// expectedDirs is where the partition of an expected-NAME.txt lies, if not in
// NAME/NAME-0.
var expectedDirs = map[string]string{
	"retention-all":   "retention/retention-all-0",
	"retention-front": "retention/retention-front-0",
	"suffix-moving":   "suffix-dirs/data/moving-0",
	"suffix-stays":    "suffix-dirs/data/stays-0",
}

// TestKafkaDirsExpected reads each directory that has a list of its records,
// and wants exactly those, as Kafka's own consumer was handed them under
// read_uncommitted.
func TestKafkaDirsExpected(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	lists, err := filepath.Glob(filepath.Join(folder, "expected-*.txt"))
	require.NoError(t, err)
	require.Len(t, lists, 11)
	for _, list := range lists {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(list), "expected-"), ".txt")
		t.Run(name, func(t *testing.T) {
			rel := expectedDirs[name]
			if rel == "" {
				rel = filepath.Join(name, name+"-0")
			}
			logDir := testkit.CopyTree(t, filepath.Join(folder, filepath.Dir(rel)))
			dir := filepath.Join(logDir, filepath.Base(rel))
			before := testkit.Snapshot(t, logDir)
			l := open(t, dir, readOnly(small()))
			holdsExpected(t, l, list)
			require.NoError(t, l.Close())
			require.Equal(t, before, testkit.Snapshot(t, logDir), "opened read-only, and changed")
			verify(t, dir, small())

			l = open(t, dir, small())
			holdsExpected(t, l, list)
			require.NoError(t, l.Close())
			appendAndReopen(t, dir, small())
		})
	}
}

func holdsExpected(t *testing.T, l *log.Log, list string) {
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	want, decided := []string{}, []string{}
	var beginning, stable, end, uncommitted, committed, control, empty int64
	controls := map[int64]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if i == 0 {
			_, counts, _ := strings.Cut(line, ": ")
			_, err := fmt.Sscanf(counts, "beginning=%d lastStableOffset=%d end=%d readUncommitted=%d readCommitted=%d control=%d emptyBatches=%d",
				&beginning, &stable, &end, &uncommitted, &committed, &control, &empty)
			require.NoError(t, err, line)
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		require.Len(t, f, 7, line)
		if strings.HasPrefix(f[6], "control:") {
			controls[number(t, f[0])] = true
			continue
		}
		want = append(want, strings.Join(f[:6], "\t"))
		if f[6] == "committed" {
			decided = append(decided, strings.Join(f[:6], "\t"))
		}
	}
	require.Equal(t, stable, l.LastStable())
	require.Len(t, decided, int(committed))
	require.Equal(t, decided, allAt(t, l, log.ReadCommitted))
	require.Equal(t, want, allAt(t, l, log.ReadUncommitted))
	require.Equal(t, beginning, l.First())
	require.Equal(t, end, l.End())
	got := all(t, l)
	require.Equal(t, want, got)
	require.EqualValues(t, uncommitted, len(got))
	require.EqualValues(t, control, len(controls))

	// One by one, and with control records and what compaction took refused.
	have := map[int64]string{}
	for _, line := range want {
		offset, _, _ := strings.Cut(line, "\t")
		have[number(t, offset)] = line
	}
	for offset := l.First(); offset < l.End(); offset++ {
		r, err := l.Read(offset)
		if have[offset] == "" {
			require.ErrorIs(t, err, log.ErrNoRecord, "offset %d", offset)
			continue
		}
		require.NoError(t, err, "offset %d", offset)
		require.Equal(t, have[offset], line(&r))
	}
	if l.First() > 0 {
		_, err := l.Read(l.First() - 1)
		require.ErrorIs(t, err, log.ErrTrimmed)
	}
	v, err := l.Borrow(l.End(), 1)
	require.ErrorIs(t, err, io.EOF)
	require.Nil(t, v)
}

// TestKafkaDirsByTime: OffsetAt answers as a linear scan does, through
// whichever indexes Kafka left.
func TestKafkaDirsByTime(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	for _, rel := range []string{"compact-horizon/__consumer_offsets-2", "compact-connect/docker-connect-status-2",
		"headers-2x/temperature-0", "repl-follower/invoice-0", "repl-leader/invoice-0", "lz4-logappend/*", "zstd-multi/zstd-multi-0",
		"codecs-mixed/codecs-mixed-0", "compact-mid/compact-mid-0", "txn-v2/txn-v2-0", "kraft-meta/__cluster_metadata-0"} {
		matches, err := filepath.Glob(filepath.Join(folder, rel))
		require.NoError(t, err)
		require.Len(t, matches, 1)
		t.Run(rel, func(t *testing.T) {
			l := open(t, matches[0], readOnly(small()))
			defer l.Close()
			type at struct{ ms, offset int64 }
			var records []at
			for r, err := range l.From(l.First()) {
				require.NoError(t, err)
				if !r.Time.IsZero() {
					records = append(records, at{r.Time.UnixMilli(), r.Offset})
				}
			}
			step := max(len(records)/50, 1)
			for i := 0; i < len(records); i += step {
				for _, ms := range []int64{records[i].ms, records[i].ms + 1} {
					want := l.End()
					for _, r := range records {
						if r.ms >= ms {
							want = r.offset
							break
						}
					}
					got, err := l.OffsetAt(timeOf(ms))
					require.NoError(t, err)
					require.Equal(t, want, got, "time %d", ms)
				}
			}
		})
	}
}

// TestKafkaDirsSuffixes: a partition's directory opens whatever Kafka had
// renamed it to. The replica on the move was killed inside a roll; it holds
// the first 25 records of the one that stayed.
func TestKafkaDirsSuffixes(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	future := testkit.CopyTree(t, filepath.Join(folder, "suffix-dirs/data2/moving-0.f805302a12734e33ac1d7e0c1307c059-future"))
	moving := open(t, filepath.Join(folder, "suffix-dirs/data/moving-0"), readOnly(small()))
	want := all(t, moving)
	require.NoError(t, moving.Close())
	l := open(t, future, small())
	require.EqualValues(t, 25, l.End())
	require.Equal(t, want[:25], all(t, l))
	require.NoError(t, l.Close())
	appendAndReopen(t, future, small())

	removed := testkit.CopyTree(t, filepath.Join(folder, "suffix-dirs/data2/removed-0.9b185c45b0dc43198ec670e0367be09a-delete"))
	l = open(t, removed, small())
	require.NotEmpty(t, all(t, l))
	require.NoError(t, l.Close())
	appendAndReopen(t, removed, small())
}

// TestKafkaDirsLogStart: KIP-107's checkpoint of the log dir says where the log
// starts inside its first segment, with any line end.
func TestKafkaDirsLogStart(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	checkpoint, err := os.ReadFile(filepath.Join(folder, "logdir-files/lso-b/log-start-offset-checkpoint"))
	require.NoError(t, err)
	for _, crlf := range []bool{false, true} {
		logDir := testkit.CopyTree(t, filepath.Join(folder, "lso-mid"))
		text := string(checkpoint)
		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		require.NoError(t, os.WriteFile(filepath.Join(logDir, "log-start-offset-checkpoint"), []byte(text), 0o644))
		dirs, err := filepath.Glob(filepath.Join(logDir, "*-0"))
		require.NoError(t, err)
		require.Len(t, dirs, 2)
		trimmed := 0
		for _, dir := range dirs {
			l := open(t, dir, small())
			require.EqualValues(t, 6, l.End())
			if l.First() == 5 {
				trimmed++
			}
			require.Len(t, all(t, l), int(6-l.First()))
			require.NoError(t, l.Close())
			appendAndReopen(t, dir, small())
		}
		require.Positive(t, trimmed, text)
	}
}

// TestKafkaDirsTinySegments opens directories whose segments are many times
// larger than what this log would make: their indexes must fit all the same.
func TestKafkaDirsTinySegments(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	for _, rel := range []string{"repl-leader/invoice-0", "kraft-meta/__cluster_metadata-0", "swap-28/__consumer_offsets-13"} {
		t.Run(rel, func(t *testing.T) {
			dir := testkit.CopyTree(t, filepath.Join(folder, rel))
			appendAndReopen(t, dir, log.Options{SegmentBytes: 4096, IndexInterval: 512})
		})
	}
}

// TestKafkaDirsHalfDoneCleaning: the brokers died while they renamed .cleaned to
// .swap, so the replacement is thrown away and the originals stay.
func TestKafkaDirsHalfDoneCleaning(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	dir := testkit.CopyTree(t, filepath.Join(folder, "swap-28/__consumer_offsets-13"))
	l := open(t, dir, small())
	require.Len(t, all(t, l), 38)
	require.Len(t, l.Recovery().Actions, 3)
	require.NoError(t, l.Close())
	for name := range testkit.Snapshot(t, dir) {
		require.NotRegexp(t, `\.(swap|cleaned)$`, name)
	}
	appendAndReopen(t, dir, small())
}

// TestKafkaDirsDeleted: what Kafka had marked for deletion goes, and nothing
// else does.
func TestKafkaDirsDeleted(t *testing.T) {
	folder := testkit.KafkaDirs(t)
	dir := testkit.CopyTree(t, filepath.Join(folder, "retention/retention-front-0"))
	before := testkit.Snapshot(t, dir)
	l := open(t, dir, small())
	require.EqualValues(t, 5, l.First())
	require.NoError(t, l.Close())
	after := testkit.Snapshot(t, dir)
	for name, hash := range before {
		switch {
		case strings.HasSuffix(name, ".deleted"):
			require.NotContains(t, after, name)
		case strings.HasPrefix(name, "00000000000000000015."): // the active one, padded
			require.Contains(t, after, name)
		default:
			require.Equal(t, hash, after[name], name)
		}
	}
}
