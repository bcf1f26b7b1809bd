package power

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A Plan is what a run does. All of it follows from the seed: a step draws its
// choices from a stream of its own, so that it stays what it is when others are
// left out.
type Plan struct {
	Seed     uint64
	Workload Workload
	Steps    []Step
	// Lie is how the file system below breaks its promises; "" is not at all.
	Lie Lie
}

// Step is one step of the many that a seed stands for.
type Step struct {
	Number int
	NoCut  bool // nothing is cut in it
	NoNest bool // nothing is cut while what it cut recovers
}

// Workload is what is run.
type Workload string

const (
	// OneLog is one log, everything that can be done to it.
	OneLog Workload = "log"
	// ManyLogs is the logs of a Manager, everything that can be done to them and
	// to it.
	ManyLogs Workload = "manager"
)

// Workloads are all there are.
var Workloads = []Workload{OneLog, ManyLogs}

// NewPlan is the whole plan of a seed.
func NewPlan(w Workload, seed uint64) Plan {
	p := Plan{Seed: seed, Workload: w}
	for i := range 40 + rand.New(rand.NewPCG(seed, lengthStream)).IntN(80) {
		p.Steps = append(p.Steps, Step{Number: i})
	}
	return p
}

// The streams of a seed that are no step's.
const (
	lengthStream   = 1<<32 + iota
	settingsStream // and a partition's, by the step that makes it
)

const (
	closeStream = 1<<33 + iota
	beginStream
)

func (p Plan) stream(n uint64) *rand.Rand { return rand.New(rand.NewPCG(p.Seed, n)) }

// Command is the command that runs the plan.
func (p Plan) Command() string {
	s := fmt.Sprintf("go run ./fuzz/power -workload %s -seed %d -steps %s", p.Workload, p.Seed, FormatSteps(p.Steps))
	if p.Lie != "" {
		s += " -lie " + string(p.Lie)
	}
	return s
}

// FormatSteps writes steps as numbers and ranges: "3,7-9,12!,15~" where ! is
// NoCut and ~ is NoNest.
func FormatSteps(steps []Step) string {
	var parts []string
	for i := 0; i < len(steps); i++ {
		s, j := steps[i], i
		for !s.NoCut && !s.NoNest && j+1 < len(steps) && steps[j+1] == (Step{Number: steps[j].Number + 1}) {
			j++
		}
		switch {
		case s.NoCut:
			parts = append(parts, fmt.Sprintf("%d!", s.Number))
		case s.NoNest:
			parts = append(parts, fmt.Sprintf("%d~", s.Number))
		case j > i:
			parts = append(parts, fmt.Sprintf("%d-%d", s.Number, steps[j].Number))
		default:
			parts = append(parts, strconv.Itoa(s.Number))
		}
		i = j
	}
	return strings.Join(parts, ",")
}

// ParseSteps is the inverse of FormatSteps.
func ParseSteps(text string) ([]Step, error) {
	var steps []Step
	for part := range strings.SplitSeq(text, ",") {
		number, noCut := strings.CutSuffix(part, "!")
		number, noNest := strings.CutSuffix(number, "~")
		from, to, isRange := strings.Cut(number, "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || a < 0 || b < a || b > 1<<20 {
			return nil, fmt.Errorf("power: %q is no step: want numbers and ranges like 3,7-9,12!,15~", part)
		}
		for n := a; n <= b; n++ {
			steps = append(steps, Step{Number: n, NoCut: noCut, NoNest: noNest})
		}
	}
	return steps, nil
}
