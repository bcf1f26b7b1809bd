package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/bench/rounds"
)

// measured is what four processes printed in two rounds, the second on a machine
// that was twice as slow.
func measured(t *testing.T) figures {
	t.Helper()
	f := make(figures)
	for round, slow := range []float64{1, 2} {
		for of, perSecond := range map[string]float64{ours: 4e6, limit: 8e6, "etcd": 500e3, "pebble": 5e6} {
			name := "BenchmarkAppend/peer=" + of + "/100B/batch=1/sync=none-2"
			if of == ours || of == limit {
				name = "BenchmarkAppend/100B/batch=1/sync=none-2"
			}
			line := name + "\t1000\t250 ns/op\t" + strconv.FormatFloat(perSecond/slow, 'f', -1, 64) + " records/s\t3 allocs/op\nPASS\n"
			failed, err := f.add(of, round, strings.NewReader(line))
			require.NoError(t, err)
			require.Empty(t, failed)
		}
	}
	return f
}

func TestRatiosAreOfARound(t *testing.T) {
	f := figures{}
	add := func(of string, round int, v string) {
		_, err := f.add(of, round, strings.NewReader("BenchmarkRead-2 1 "+v+" records/s\n"))
		require.NoError(t, err)
	}
	// The medians are 20 and 15; within each round ours was twice as good.
	for round, values := range [][2]string{{"10", "5"}, {"20", "10"}, {"40", "20"}} {
		add(ours, round, values[0])
		add("etcd", round, values[1])
	}
	add("etcd", 3, "15")
	add("etcd", 4, "1000")
	times, ok := ratio(f["Read"][ours], f["Read"]["etcd"], rate)
	require.True(t, ok)
	require.InDelta(t, 2, times, 1e-9)
	require.InDelta(t, 15, rounds.Median(f["Read"]["etcd"].all(rate)), 1e-9)
}

func TestTable(t *testing.T) {
	w := choose(regexp.MustCompile(`^Append/100B/batch=1/`))
	require.Len(t, w, 1)
	text := newReport(w, measured(t), 2).markdown("charts")
	for _, line := range []string{
		"| Append one record of 100 bytes | 3 M/s | pebble † 3.75 M/s | **0.80 ×** | 6 M/s | 50% |",
		"![Append one record of 100 bytes](charts/append-100b-batch1-syncnone.svg)",
		"| | records/s | spread | seglog is | of the limit | allocations |",
		"| seglog | 3 M/s | 67% |  | 50% | 3 |",
		"| limit | 6 M/s | 67% | 0.50 × |  | 3 |",
		"| pebble † | 3.75 M/s | 67% | **0.80 ×** | 62% | 3 |",
		"| etcd | 375 k/s | 67% | 8.00 × | 6% | 3 |",
		"Not to be had of: raft-wal, raft-boltdb, tidwall, tidwall-cached, bbolt, badger, nats-store, nats-store-async, jetstream, prometheus, dque.",
	} {
		require.Contains(t, text, line+"\n", text)
	}
}

func TestLessIsBetter(t *testing.T) {
	f := figures{}
	for of, v := range map[string]string{ours: "1000", limit: "500", "etcd": "4000", "bbolt": "2000"} {
		_, err := f.add(of, 0, strings.NewReader("BenchmarkOpen/clean-2 1 "+v+" ns/op\n"))
		require.NoError(t, err)
	}
	table := newTable(workload{name: "Open/clean", unit: "ns/op", less: true}, f)
	best, ok := table.best()
	require.True(t, ok)
	require.Equal(t, "bbolt", best.name)
	require.InDelta(t, 2, best.ours, 1e-9)
	own, _ := table.find(ours)
	require.InDelta(t, 0.5, own.limit, 1e-9)
	require.Equal(t, "1.00 µs", show(own.median, "ns/op"))
}

// TestFailures: what a benchmark said that failed comes to the workload that has
// no figure, and the others keep theirs.
func TestFailures(t *testing.T) {
	out := `BenchmarkOpen/peer=etcd/clean-2   1   77 ns/op
--- FAIL: BenchmarkOpen/peer=etcd/killed/checkpoint=off
    log_test.go:12: the log is torn
--- FAIL: BenchmarkOpen/peer=etcd
--- FAIL: BenchmarkOpen
FAIL
`
	f := figures{}
	failed, err := f.add("etcd", 0, strings.NewReader(out))
	require.NoError(t, err)
	require.Equal(t, "the log is torn", failed["Open/killed/checkpoint=off"])
	f.fail(group{benchmarks: []string{"Open"}}, "etcd", 0, failed)
	text := newReport(choose(regexp.MustCompile(`^Open/`)), f, 1).markdown("")
	require.Contains(t, text, "| etcd | failed: the log is torn |", text)
	require.Contains(t, text, "| etcd | 77.0 ns |", text)
}

func TestEveryWorkloadHasAGroup(t *testing.T) {
	for _, w := range workloads {
		n := 0
		for _, g := range groups {
			if g.of(w) {
				n++
			}
		}
		require.Equal(t, 1, n, w.name)
		if w.peers != "" {
			require.Contains(t, names(), w.peers)
		}
	}
}

func TestWriteKeepsWhatIsByHand(t *testing.T) {
	docs := t.TempDir()
	path := filepath.Join(docs, "BENCHMARKS.md")
	w := choose(regexp.MustCompile(`^Append/100B/batch=1/`))
	r := newReport(w, measured(t), 2)
	require.NoError(t, os.WriteFile(path, []byte("before\n"+page.Begin+"\nold\n"+page.End+"\nbehind\n"), 0o644))
	for range 2 { // twice is the same
		require.NoError(t, r.write(docs))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "before\n"+page.Begin+"\n\nMedians of 2 rounds"), string(text))
		require.True(t, strings.HasSuffix(string(text), "\n\n"+page.End+"\nbehind\n"), string(text))
		require.NotContains(t, string(text), "old")
	}
	drawn, err := os.ReadFile(filepath.Join(docs, "charts", "append-100b-batch1-syncnone.svg"))
	require.NoError(t, err)
	for _, part := range []string{"<svg", "seglog", "etcd", "pebble", "limit"} {
		require.Contains(t, string(drawn), part)
	}
	again, err := chart(newTable(w[0], measured(t)))
	require.NoError(t, err)
	require.Equal(t, string(drawn), string(again))

	require.NoError(t, os.WriteFile(path, []byte("no markers\n"), 0o644))
	require.ErrorContains(t, r.write(docs), "there are no lines")
}
