package main

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seglog/seglog/bench/rounds"
)

// figures are what was measured, by the name of the workload.
type figures map[string]map[string]*side

// A side is what one of them made of a workload.
type side struct {
	values map[string]map[int]float64 // by unit and round
	failed int                        // rounds
	why    string
	codec  string
}

func (f figures) at(workload, of string) *side {
	if f[workload] == nil {
		f[workload] = make(map[string]*side)
	}
	if f[workload][of] == nil {
		f[workload][of] = &side{values: make(map[string]map[int]float64)}
	}
	return f[workload][of]
}

// add reads what a test binary printed. It returns what it said of benchmarks that
// failed, by their names.
func (f figures) add(of string, round int, out io.Reader) (failed map[string]string, err error) {
	printed, err := io.ReadAll(out)
	if err != nil {
		return nil, err
	}
	results := benchfmt.NewReader(bytes.NewReader(printed), of)
	for results.Scan() {
		r, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name, codec := workloadOf(string(r.Name))
		s := f.at(name, of)
		s.codec = codec
		for _, v := range r.Values {
			value, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				value, unit = v.OrigValue, v.OrigUnit
			}
			if s.values[unit] == nil {
				s.values[unit] = make(map[int]float64)
			}
			s.values[unit][round] = value
		}
	}
	return failures(printed), results.Err()
}

// failures are the first lines that benchmarks said which failed, by workload.
func failures(printed []byte) map[string]string {
	failed := make(map[string]string)
	name := ""
	for lines := bufio.NewScanner(bytes.NewReader(printed)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "--- FAIL: Benchmark"); ok {
			name, _ = workloadOf(strings.Fields(rest)[0])
			continue
		}
		if name != "" && line != "" && failed[name] == "" {
			_, said, found := strings.Cut(line, ": ") // file and line
			if !found {
				said = line
			}
			failed[name] = said
			name = ""
		}
	}
	return failed
}

// fail notes the workloads of a group that a side has no figure of in a round.
func (f figures) fail(g group, of string, round int, why map[string]string) {
	for name, said := range why {
		if !slices.Contains(g.benchmarks, strings.SplitN(name, "/", 2)[0]) {
			continue
		}
		s := f.at(name, of)
		measured := false
		for _, rounds := range s.values {
			_, has := rounds[round]
			measured = measured || has
		}
		if !measured {
			s.failed++
			s.why = said
		}
	}
}

// workloadOf is the workload that a benchmark's name stands for, whose peer and
// codec are not of the name.
func workloadOf(name string) (workload, codec string) {
	var parts []string
	for part := range strings.SplitSeq(trimProcs(name), "/") {
		if strings.HasPrefix(part, "peer=") {
			continue
		}
		if c, ok := strings.CutPrefix(part, "codec="); ok {
			codec = c
			continue
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/"), codec
}

// trimProcs takes the number of processors off a name, as in Append/100B-2.
func trimProcs(name string) string {
	at := strings.LastIndexByte(name, '-')
	if at < 0 || at < strings.LastIndexByte(name, '/') || strings.Trim(name[at+1:], "0123456789") != "" {
		return name
	}
	return name[:at]
}

// all are the values of a unit, in the order of the rounds.
func (s *side) all(unit string) (values []float64) {
	if s == nil {
		return nil
	}
	rounds := s.values[unit]
	keys := make([]int, 0, len(rounds))
	for round := range rounds {
		keys = append(keys, round)
	}
	slices.Sort(keys)
	for _, round := range keys {
		values = append(values, rounds[round])
	}
	return values
}

// ratio is the median over the rounds that both have of a's value by b's.
func ratio(a, b *side, unit string) (float64, bool) {
	if a == nil || b == nil {
		return 0, false
	}
	var ratios []float64
	for round, value := range a.values[unit] {
		if other, ok := b.values[unit][round]; ok && value > 0 && other > 0 {
			ratios = append(ratios, value/other)
		}
	}
	if len(ratios) == 0 {
		return 0, false
	}
	return rounds.Median(ratios), true
}
