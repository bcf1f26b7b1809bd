package calls

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"
)

func scenarios() []*scenario {
	var list []*scenario
	for _, group := range [][]scenario{opening, writes, reads, drops, keeping, managers} {
		for i := range group {
			list = append(list, &group[i])
		}
	}
	return list
}

// TestEachCall: see the package comment.
func TestEachCall(t *testing.T) {
	sample := *seed
	if sample == 0 { // a new one
		sample = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", sample)
	runs := 0
	list := scenarios()
	for _, s := range list {
		t.Run(s.name, func(t *testing.T) {
			until := time.Now().Add(*within / time.Duration(len(list)))
			d, err := s.dryRun()
			if err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			n := runs
			name := fnv.New64a()
			_, _ = name.Write([]byte(s.name)) // a scenario's sample is its own
			chance := rand.New(rand.NewPCG(sample, name.Sum64()))
			chosen := choose(s, &d, chance)
			for _, r := range chosen {
				if *within > 0 && time.Now().After(until) {
					break
				}
				runs++
				if problem := r.check(); problem != nil {
					t.Errorf("-call %d -error %q -mode %s: %s\n%v", r.nth, r.f.name, r.mode, describe(r.call), problem)
				}
			}
			t.Logf("%d calls, %d runs of %d", len(d.calls), runs-n, len(chosen))
		})
	}
	t.Logf("%d runs", runs)
	if *onlyCall >= 0 && runs == 0 {
		t.Error("no operation has such a call, or it cannot fail so")
	}
}

// oneIn of the runs that there can be is in the sample, by mode.
var oneIn = map[string]int{"once": 120, "twice": 400, "stays": 200}

// choose lists the runs of a scenario that the flags ask for: in the order of its
// calls, or where there is but so much time in any.
func choose(s *scenario, d *dry, chance *rand.Rand) (list []*run) {
	for nth, c := range d.calls {
		for i, f := range faultsOf(c) {
			if *onlyCall >= 0 && nth != *onlyCall || *onlyErr != "" && f.name != *onlyErr {
				continue
			}
			for _, mode := range modes {
				if *onlyMode != "" && mode.name != *onlyMode {
					continue
				}
				f.rules = mode.rules(f, d.calls, nth)
				if f.rules == nil || !*all && *onlyCall < 0 && chance.IntN(oneIn[mode.name]) != 0 {
					continue
				}
				list = append(list, &run{s: s, d: d, nth: nth, call: c, f: f, mode: mode.name, way: nth + i})
			}
		}
	}
	if *within > 0 {
		chance.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return list
}
