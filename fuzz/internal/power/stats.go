package power

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// Stats counts what runs did.
type Stats struct {
	Runs      int
	Steps     int
	Cuts      map[string]*[Places]int // power cuts, by operation
	Kills     int
	Opens     int                // of a directory after a cut or a kill, looks twice included
	Recovered int                // that found something to repair
	Events    map[string]*[2]int // events of uninterrupted operations, and how many those were
}

// NewStats counts from nothing.
func NewStats() *Stats {
	return &Stats{Cuts: map[string]*[Places]int{}, Events: map[string]*[2]int{}}
}

func (s *Stats) count(where string, p Place, power bool) {
	if !power {
		s.Kills++
		return
	}
	if s.Cuts[where] == nil {
		s.Cuts[where] = new([Places]int)
	}
	s.Cuts[where][p]++
}

func (s *Stats) took(where string, events int) {
	if s.Events[where] == nil {
		s.Events[where] = new([2]int)
	}
	s.Events[where][0] += events
	s.Events[where][1]++
}

// PowerCuts is how often the power was cut.
func (s *Stats) PowerCuts() int {
	n := 0
	for _, row := range s.Cuts {
		n += sum(row[:])
	}
	return n
}

// Add takes in what another run counted.
func (s *Stats) Add(o *Stats) {
	s.Runs, s.Steps, s.Kills, s.Opens, s.Recovered = s.Runs+o.Runs, s.Steps+o.Steps, s.Kills+o.Kills, s.Opens+o.Opens, s.Recovered+o.Recovered
	for where, row := range o.Cuts {
		if s.Cuts[where] == nil {
			s.Cuts[where] = new([Places]int)
		}
		for i, n := range row {
			s.Cuts[where][i] += n
		}
	}
	for where, e := range o.Events {
		if s.Events[where] == nil {
			s.Events[where] = new([2]int)
		}
		s.Events[where][0] += e[0]
		s.Events[where][1] += e[1]
	}
}

// Table writes the cuts by operation and place.
func (s *Stats) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "power cut in\t")
	for _, name := range placeNames {
		fmt.Fprintf(t, "%s\t", name)
	}
	fmt.Fprint(t, "all\t\n")
	var total [Places]int
	line := func(name string, row [Places]int) {
		fmt.Fprintf(t, "%s\t", name)
		for i, n := range row {
			fmt.Fprintf(t, "%d\t", n)
			total[i] += n
		}
		fmt.Fprintf(t, "%d\t\n", sum(row[:]))
	}
	for _, where := range slices.Sorted(maps.Keys(s.Cuts)) {
		line(where, *s.Cuts[where])
	}
	line("all", total)
	return t.Flush()
}

func sum(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}
