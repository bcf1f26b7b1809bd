package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seglog/seglog/bench/rounds"
)

// The units of figures.
const (
	mbPerSecond  = "MB/s"
	cpuPerGB     = "CPU s/GB"
	p50          = "p50 ms"
	p99          = "p99 ms"
	p999         = "p99.9 ms"
	cores        = "cores"
	startSeconds = "s to first record"
	anonMB       = "MB of RssAnon"
)

// units are all of them, in the order in which they are told.
var units = []string{mbPerSecond, cpuPerGB, p50, p99, p999, cores, startSeconds, anonMB}

func (f figures) String() string {
	var b strings.Builder
	for _, unit := range units {
		if v, ok := f[unit]; ok {
			fmt.Fprintf(&b, "%10s %s", number(v), unit)
		}
	}
	return b.String()
}

// results are all figures: those of each round, by row, broker and unit.
type results struct {
	nodes  []string
	rounds int
	load   string // of the machine, when it began
	rows   []string
	of     map[string]map[string]map[string][]float64
	raw    io.Writer // of each as it comes
}

func newResults(nodes []*node, rounds int, raw io.Writer) *results {
	r := &results{rounds: rounds, load: loadAverage(), raw: raw, of: make(map[string]map[string]map[string][]float64)}
	for _, n := range nodes {
		r.nodes = append(r.nodes, n.name)
	}
	return r
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	return strings.Fields(string(text))[0]
}

func (r *results) add(row, node string, f figures) error {
	if r.of[row] == nil {
		r.rows = append(r.rows, row)
		r.of[row] = make(map[string]map[string][]float64)
	}
	if r.of[row][node] == nil {
		r.of[row][node] = make(map[string][]float64)
	}
	var list []rounds.Figure
	for _, unit := range units {
		if v, ok := f[unit]; ok {
			r.of[row][node][unit] = append(r.of[row][node][unit], v)
			list = append(list, rounds.Figure{Value: v, Unit: unit})
		}
	}
	return rounds.Line(r.raw, row, node, list)
}

// median is that of the rounds, if there are any.
func (r *results) median(row, node, unit string) (float64, bool) {
	values := r.of[row][node][unit]
	return rounds.Median(values), len(values) > 0
}

// times is how many times as good seglog is: more throughput, less of all else.
func (r *results) times(row, unit string) (float64, bool) {
	our, ok := r.median(row, ours, unit)
	their, there := r.median(row, theirs, unit)
	if !ok || !there || our == 0 || their == 0 {
		return 0, false
	}
	if unit == mbPerSecond {
		return our / their, true
	}
	return their / our, true
}
