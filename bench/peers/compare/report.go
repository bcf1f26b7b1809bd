package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/seglog/seglog/bench/peers"
	"github.com/seglog/seglog/bench/rounds"
)

// A report is what the figures of the chosen workloads say.
type report struct {
	tables []table
	rounds int
	quick  bool
}

// A table is a workload with who did it, ours first, the limit second, and then
// the peers, best first.
type table struct {
	workload
	rows   []row
	cannot []string // peers that have no such thing
}

type row struct {
	name   string
	side   *side
	median float64
	spread float64 // from the least round to the greatest, by the median
	ours   float64 // how many times as good seglog is, 0 unknown
	limit  float64 // what part of the limit it reaches, 0 unknown
}

func newReport(chosen []workload, from figures, rounds int) *report {
	r := &report{rounds: rounds}
	for _, w := range chosen {
		r.tables = append(r.tables, newTable(w, from))
	}
	return r
}

func newTable(w workload, from figures) table {
	t := table{workload: w}
	own, bare := from[w.name][ours], from[w.name][limit]
	add := func(name string, s *side) {
		values := s.all(w.unit)
		if len(values) == 0 {
			if s != nil && s.failed > 0 {
				t.rows = append(t.rows, row{name: name, side: s, median: math.NaN()})
			}
			return
		}
		r := row{name: name, side: s, median: rounds.Median(values), spread: rounds.Spread(values)}
		if name != ours {
			r.ours = w.better(own, s)
		}
		if name != limit {
			r.limit = w.better(s, bare)
		}
		t.rows = append(t.rows, r)
	}
	add(ours, own)
	add(limit, bare)
	first := len(t.rows)
	done := w.name
	if w.peers != "" {
		done = w.peers
	}
	for _, name := range peerNames(w) {
		if s := from[done][name]; s == nil {
			t.cannot = append(t.cannot, name)
		} else {
			add(name, s)
		}
	}
	slices.SortStableFunc(t.rows[first:], func(a, b row) int {
		switch {
		case math.IsNaN(a.median) || math.IsNaN(b.median):
			return boolCompare(math.IsNaN(a.median), math.IsNaN(b.median))
		case w.less:
			return cmp.Compare(a.median, b.median)
		default:
			return cmp.Compare(b.median, a.median)
		}
	})
	return t
}

// better is how many times as good a is as b, 0 where that cannot be told.
func (w workload) better(a, b *side) float64 {
	if w.less {
		a, b = b, a
	}
	times, _ := ratio(a, b, w.unit)
	return times
}

func peerNames(w workload) (names []string) {
	if strings.HasPrefix(w.name, "Queue") {
		for _, e := range peers.QueueEngines {
			names = append(names, e.Name)
		}
		return names
	}
	for _, e := range peers.Engines {
		names = append(names, e.Name)
	}
	return names
}

// best is the peer that did best, if there is one with a figure.
func (t table) best() (row, bool) {
	for _, r := range t.rows {
		if r.name != ours && r.name != limit && !math.IsNaN(r.median) {
			return r, true
		}
	}
	return row{}, false
}

func (t table) find(name string) (row, bool) {
	i := slices.IndexFunc(t.rows, func(r row) bool { return r.name == name })
	if i < 0 {
		return row{}, false
	}
	return t.rows[i], true
}

// markdown is the comparison; charts is where its charts are, "" for none.
func (r *report) markdown(charts string) string {
	var b strings.Builder
	if r.quick {
		b.WriteString("**From a run with -quick: each figure is of one call, and says nothing.**\n\n")
	}
	fmt.Fprintf(&b, "Medians of %d rounds, in each of which all took their turn. *seglog is* is how many times as good seglog\n", r.rounds)
	b.WriteString("was, *of the limit* what part of what the bare hardware does of the same work (`bench/limit`);\n")
	b.WriteString("both are medians of the ratios within a round. The spread is from the least round to the greatest.\n")
	b.WriteString("[What each engine leaves out](../bench/peers/README.md) to be as fast as it is here: † loses\nsome of what was appended when its process is killed.\n\n")
	b.WriteString("| workload | seglog | best peer | seglog is | limit | of the limit |\n|---|---|---|---|---|---|\n")
	for _, t := range r.tables {
		own, ok := t.find(ours)
		if !ok {
			continue
		}
		peer, times, bare := "none has it", "", ""
		if best, ok := t.best(); ok {
			peer = fmt.Sprintf("%s %s", t.label(best), show(best.median, t.unit))
			times = factor(best.ours)
		}
		if l, ok := t.find(limit); ok {
			bare = show(l.median, t.unit)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", t.title, show(own.median, t.unit), peer, times, bare, part(own.limit))
	}
	for _, t := range r.tables {
		b.WriteString("\n" + t.markdown(charts))
	}
	return b.String()
}

func (t table) markdown(charts string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", t.title)
	if charts != "" && t.chart {
		fmt.Fprintf(&b, "![%s](%s/%s)\n\n", t.title, charts, t.file())
	}
	fmt.Fprintf(&b, "`%s`\n\n", t.name)
	more := slices.DeleteFunc(slices.Clone(t.more), func(unit string) bool {
		return !slices.ContainsFunc(t.rows, func(r row) bool { return len(r.side.all(unit)) > 0 })
	})
	fmt.Fprintf(&b, "| | %s | spread | seglog is | of the limit |%s\n", heading(t.unit), cells(more, heading))
	fmt.Fprintf(&b, "|---|---|---|---|---|%s\n", cells(more, func(string) string { return "---" }))
	for _, r := range t.rows {
		if math.IsNaN(r.median) {
			fmt.Fprintf(&b, "| %s | failed: %s | | | |%s\n", t.label(r), r.side.why, cells(more, func(string) string { return "" }))
			continue
		}
		times := factor(r.ours)
		if r.name == limit {
			times = strings.Trim(times, "*") // that it is better is no surprise
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f%% | %s | %s |%s\n", t.label(r), show(r.median, t.unit), 100*r.spread, times, part(r.limit),
			cells(more, func(unit string) string {
				values := r.side.all(unit)
				if len(values) == 0 {
					return ""
				}
				return show(rounds.Median(values), unit)
			}))
	}
	for _, r := range t.rows {
		if !math.IsNaN(r.median) && r.side.failed > 0 {
			fmt.Fprintf(&b, "\n%s failed in %d rounds: %s\n", r.name, r.side.failed, r.side.why)
		}
	}
	if len(t.cannot) > 0 {
		fmt.Fprintf(&b, "\nNot to be had of: %s.\n", strings.Join(t.cannot, ", "))
	}
	if t.peers != "" {
		b.WriteString("\nThe peers' figures are those of " + "`" + t.peers + "`, which is the same to them.\n")
	}
	return b.String()
}

// label is a row's name with what has to be known of it.
func (t table) label(r row) string {
	label := r.name
	if r.side.codec != "" {
		label += " (" + r.side.codec + ")"
	}
	if slices.ContainsFunc(peers.Engines, func(e peers.Engine) bool { return e.Name == r.name && e.LosesOnKill }) && t.unsynced() {
		label += " †"
	}
	return label
}

// unsynced says whether the workload appends without a sync.
func (t table) unsynced() bool {
	return strings.HasPrefix(t.name, "Append") && !strings.HasPrefix(t.name, "AppendSync") ||
		strings.HasPrefix(t.name, "Open/killed") || strings.HasPrefix(t.name, "Queue") && !strings.Contains(t.name, "durable=true")
}

// file is the chart's name.
func (t table) file() string {
	return strings.NewReplacer("/", "-", "=", "").Replace(strings.ToLower(t.name)) + ".svg"
}

var page = rounds.Page{Begin: "<!-- comparison: written by bench/peers/compare -->", End: "<!-- end of comparison -->"}

// write puts the tables between the markers of BENCHMARKS.md in docs, and the
// charts into docs/charts.
func (r *report) write(docs string) error {
	charts := filepath.Join(docs, "charts")
	if err := os.MkdirAll(charts, 0o755); err != nil {
		return err
	}
	for _, t := range r.tables {
		if !t.chart {
			continue
		}
		drawn, err := chart(t)
		if err == nil && drawn != nil {
			err = os.WriteFile(filepath.Join(charts, t.file()), drawn, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return page.Write(filepath.Join(docs, "BENCHMARKS.md"), r.markdown("charts"))
}

func cells(units []string, text func(string) string) string {
	var b strings.Builder
	for _, unit := range units {
		b.WriteString(" " + text(unit) + " |")
	}
	return b.String()
}

// headings are what units are called above a column.
var headings = map[string]string{
	"ns/op": "time", "p50-ns": "p50", "p99-ns": "p99", "p99.9-ns": "p99.9", "allocs/op": "allocations",
	"anon-B": "anonymous memory", "heap-B": "heap", "overhead-B/record": "bytes beyond", "lost-records": "records lost",
}

func heading(unit string) string {
	if h, ok := headings[unit]; ok {
		return h
	}
	return unit
}

// show is a value as people read it.
func show(v float64, unit string) string {
	switch unit {
	case rate:
		return strings.TrimSpace(humanize.SIWithDigits(v, 3-1-digits(v), "")) + "/s"
	case "ns/op", "p50-ns", "p99-ns", "p99.9-ns":
		scaled, prefix := humanize.ComputeSI(v / 1e9)
		return fmt.Sprintf("%s %ss", three(scaled), prefix)
	case "anon-B", "heap-B":
		if v < 0 {
			return "-" + humanize.IBytes(uint64(-v))
		}
		return humanize.IBytes(uint64(v))
	case "fairness":
		return fmt.Sprintf("%.2f", v)
	case "overhead-B/record":
		return fmt.Sprintf("%.1f B", v)
	}
	return humanize.Comma(int64(math.Round(v)))
}

// digits is how many digits come before the point beyond the first, once the
// thousands are a prefix.
func digits(v float64) int {
	scaled, _ := humanize.ComputeSI(v)
	return max(min(int(math.Floor(math.Log10(math.Max(scaled, 1)))), 2), 0)
}

func three(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func factor(times float64) string {
	if times == 0 {
		return ""
	}
	if times < 1 {
		return fmt.Sprintf("**%.2f ×**", times) // a peer was better
	}
	return three(times) + " ×"
}

func part(of float64) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*of)
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
