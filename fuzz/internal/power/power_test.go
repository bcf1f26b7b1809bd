package power

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// TestPlansRepeat: a plan does the same each time, so that a seed is a way to
// see a failure again.
func TestPlansRepeat(t *testing.T) {
	for seed := range uint64(40) {
		p := NewPlan(Workloads[seed%2], seed)
		first, second := &machine{}, &machine{}
		for _, x := range []*machine{first, second} {
			*x = machine{plan: p, stats: NewStats(), verbose: true}
			if f := runMachine(x); f != nil {
				t.Fatalf("%s\n%s\n%s", f.What, strings.Join(f.Did, "\n"), p.Command())
			}
		}
		for i, line := range first.did {
			if i >= len(second.did) || second.did[i] != line {
				t.Fatalf("seed %d, line %d: %q, then %q", seed, i, line, second.did[min(i, len(second.did)-1)])
			}
		}
	}
}

func TestStepsRoundTrip(t *testing.T) {
	for _, text := range []string{"0", "0-9", "1,3-4,7!,8,9~,11-40"} {
		steps, err := ParseSteps(text)
		if err != nil || FormatSteps(steps) != text {
			t.Errorf("%q becomes %q, %v", text, FormatSteps(steps), err)
		}
	}
	for _, text := range []string{"", "x", "3-1", "-4", "1,,2"} {
		if _, err := ParseSteps(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestNewSeeds is a slice of a campaign: go run ./fuzz/power is more of it.
func TestNewSeeds(t *testing.T) {
	c := Campaign{Workloads: Workloads, Seed: rand.Uint64() >> 1, Cuts: 500}
	if _, f := c.Run(t.Context()); f != nil {
		f = Minimise(f)
		t.Fatalf("%s\n%s\n%s", strings.Join(f.Did, "\n"), f.What, f.Plan.Command())
	}
}

// TestLiesAreNoticed: with a file system that does not do what it says
// something is lost, and the campaign says what.
func TestLiesAreNoticed(t *testing.T) {
	for _, lie := range []Lie{LieSync, LieNames} {
		for _, w := range Workloads {
			_, f := Campaign{Workloads: []Workload{w}, Lie: lie, Cuts: 1500}.Run(t.Context())
			if f == nil {
				t.Errorf("%s was not noticed by workload %s", lie, w)
			} else {
				t.Logf("%s, workload %s: %s", lie, w, f.What)
			}
		}
	}
}

// TestForgottenEpoch: a log that knows a producer as of an older epoch has
// forgotten the newer one, be the sequence in both the same.
func TestForgottenEpoch(t *testing.T) {
	x := &machine{part: &part{}}
	l, err := log.Open(ctx, "log", log.Options{SegmentBytes: 4096, Env: log.Env{FS: vfs.NewMem()}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x.l = l
	raw := x.encode(record.BatchOptions{LeaderEpoch: -1, Producer: &record.Producer{ID: 100, Epoch: 1}}, record.Record{Value: []byte("v")})
	if _, err := l.AppendBatch(raw, log.FromClient); err != nil {
		t.Fatal(err)
	}
	for want, p := range map[bool]producer{false: {pid: 100, epoch: 1}, true: {pid: 100, epoch: 2}} {
		if got := x.forgotten(p); got != want {
			t.Errorf("of %+v the log has forgotten something: %t, it has %+v", p, got, l.Producers())
		}
	}
}

// TestSeedsThatFailed: what once lost something does not any more.
func TestSeedsThatFailed(t *testing.T) {
	for _, failed := range []struct {
		workload Workload
		seed     uint64
		steps    string
	}{
		{OneLog, 830, "11!,16!,17!,25!,29~,35~,38!,39~,41~"},
		{OneLog, 265923803383351980, "12!,13~,15,20!,21~,22~,23~,24!,25!,26~,36~,41!,42!,43!,45!,46!"},
		{OneLog, 265923803383351627, "17!,18~,19~,27~,28~"},
		{OneLog, 8821900913671018624, "34~,35!,36!,40!,41~,42!,43!,44!,49~"},
		{OneLog, 6739502226790128043, "0~,4~"},
		{OneLog, 8325503084448937541, "0,2!,3~,4~,5~,6!,8~,12!,13~,15~,16~,17!,21!,22~,23~,25!,26!,27~"},
		{ManyLogs, 3, "52!,53!"},
		{ManyLogs, 1242, "4~,5!,8!,9!,24!,29!,35~,69~"},
		{ManyLogs, 500009, "44!,47!,48!,49!,50~,52!"},
		{ManyLogs, 600435, "0!,3!,4,5~,6~,12!,13!,21!,23~,25!,31~,35~,50!,51,56!,60!,62~"},
		{ManyLogs, 700078, "58!,60!,62!,63!,91~,92~,93~,96~"},
		{ManyLogs, 7869716092452836427, "34~,35!,43!,44!,45!,47~,48~"},
		{ManyLogs, 6846966198998552346, "0~,6~,11~,12~,13~,15~,16~,17!,18,19!,20!,21!,24~,28~,29~,30!,31!,32~"},
	} {
		steps, err := ParseSteps(failed.steps)
		if err != nil {
			t.Fatal(err)
		}
		if f := Run(Plan{Seed: failed.seed, Workload: failed.workload, Steps: steps}, NewStats(), true); f != nil {
			t.Errorf("%s\n%s\n%s", strings.Join(f.Did, "\n"), f.What, f.Plan.Command())
		}
	}
}
