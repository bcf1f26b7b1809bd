package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seglog/seglog/bench/rounds"
)

var page = rounds.Page{Begin: "<!-- brokers: written by bench/broker -->", End: "<!-- end of brokers -->"}

// markdown are tables, one for the rows that have the same units.
func (r *results) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d counted rounds, medians; %d cores; load of the machine %s when it began, %s when it ended. "+
		"*Times* is how many times as good seglog is: more of MB/s, less of all else.\n", r.rounds, runtime.NumCPU(), r.load, loadAverage())
	var last []string
	for _, row := range r.rows {
		if has := r.units(row); !slices.Equal(has, last) {
			r.head(&b, has)
			last = has
		}
		r.line(&b, row, last)
	}
	return b.String()
}

// units are those of a row.
func (r *results) units(row string) (has []string) {
	for _, unit := range units {
		if _, ok := r.median(row, r.nodes[0], unit); ok {
			has = append(has, unit)
		}
	}
	return has
}

func (r *results) head(b *strings.Builder, units []string) {
	b.WriteString("\n| |")
	rule := "\n|---|"
	for _, unit := range units {
		for _, n := range r.nodes {
			fmt.Fprintf(b, " %s: %s |", n, unit)
			rule += "---|"
		}
		if len(r.nodes) > 1 {
			b.WriteString(" times |")
			rule += "---|"
		}
	}
	b.WriteString(rule + "\n")
}

func (r *results) line(b *strings.Builder, row string, units []string) {
	fmt.Fprintf(b, "| `%s` |", row)
	for _, unit := range units {
		for _, n := range r.nodes {
			text := ""
			if v, ok := r.median(row, n, unit); ok {
				text = number(v)
			}
			fmt.Fprintf(b, " %s |", text)
		}
		if len(r.nodes) > 1 {
			text := ""
			if v, ok := r.times(row, unit); ok {
				text = number(v)
			}
			fmt.Fprintf(b, " %s |", text)
		}
	}
	b.WriteString("\n")
}

// number is a figure with as many digits as mean something.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// write puts the tables into BENCHMARKS.md in a directory.
func (r *results) write(docs string) error {
	return page.Write(filepath.Join(docs, "BENCHMARKS.md"), r.markdown())
}
