package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// summary counts what was cut.
type summary struct {
	began time.Time
	boots int
	rows  map[string]*row // by workload and file system
	notes map[string]int
}

type row struct{ cuts, acked, lines, unsaid int }

func (y *summary) add(s *series) {
	if y.rows == nil {
		y.rows, y.notes = map[string]*row{}, map[string]int{}
	}
	y.boots += s.age
	for _, sub := range s.subjects {
		key := fmt.Sprintf("%-11s %-4s", sub.workload, sub.fs)
		r := y.rows[key]
		if r == nil {
			r = new(row)
			y.rows[key] = r
		}
		c := sub.h.Counts
		r.cuts, r.acked, r.lines, r.unsaid = r.cuts+s.age, r.acked+c.Acked, r.lines+c.Lines, r.unsaid+c.Unsaid
		for note, n := range c.Notes {
			y.notes[note] += n
		}
	}
}

func (y *summary) String() string {
	var b strings.Builder
	took := time.Since(y.began)
	fmt.Fprintf(&b, "%d cuts, each of two disks, in %v (%v a cut)\n", y.boots, took.Round(time.Second), (took / time.Duration(max(y.boots, 1))).Round(100*time.Millisecond))
	fmt.Fprintf(&b, "workload    fs     cuts  acknowledged records  lines  batches not said\n")
	for _, key := range slices.Sorted(maps.Keys(y.rows)) {
		r := y.rows[key]
		fmt.Fprintf(&b, "%s %6d %21d %6d %17d\n", key, r.cuts, r.acked, r.lines, r.unsaid)
	}
	for _, note := range slices.Sorted(maps.Keys(y.notes)) {
		fmt.Fprintf(&b, "%6d times: %s\n", y.notes[note], note)
	}
	return b.String()
}
