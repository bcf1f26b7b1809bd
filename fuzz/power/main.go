// Command power cuts the power of machines that run a log, or a Manager's logs,
// again and again, and looks what is left of them.
//
// A failure ends it, with the command that shows the same again: the steps that are
// left of the seed's are as few as it fails with. SIGINT ends it with what it counted.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/seglog/seglog/fuzz/internal/power"
)

func main() {
	var c power.Campaign
	var workload, steps, lie string
	flag.IntVar(&c.Cuts, "cuts", 0, "end after so many power cuts")
	flag.DurationVar(&c.For, "for", 0, "end after this time")
	flag.Uint64Var(&c.Seed, "seed", rand.Uint64()>>1, "the first seed, one by chance unless given")
	flag.IntVar(&c.Parallel, "parallel", 1, "seeds at a time")
	flag.StringVar(&workload, "workload", "", "what the machines do: log or manager, both in turn unless given")
	flag.StringVar(&steps, "steps", "", "only these steps of the one seed, as a failure prints them")
	flag.StringVar(&lie, "lie", "", "what the file system does not do: sync or names; to see that it is noticed")
	flag.Parse()
	switch w := power.Workload(workload); {
	case workload == "":
		c.Workloads = power.Workloads
	case slices.Contains(power.Workloads, w):
		c.Workloads = []power.Workload{w}
	default:
		fmt.Fprintf(os.Stderr, "workload %q, want one of %q\n", workload, power.Workloads)
		os.Exit(2)
	}
	var err error
	if c.Lie, err = power.ParseLie(lie); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	var failed *power.Failure
	if steps != "" {
		s, err := power.ParseSteps(steps)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		failed = power.Run(power.Plan{Seed: c.Seed, Workload: c.Workloads[0], Steps: s, Lie: c.Lie}, power.NewStats(), true)
	} else {
		fmt.Printf("workloads %q from seed %d on\n", c.Workloads, c.Seed)
		c.Progress = func(s *power.Stats, next uint64, took time.Duration) {
			n := s.PowerCuts()
			fmt.Printf("%v: %d power cuts (%.0f/s), %d kills, %d opens, %d recovered, %d steps, next seed %d\n", took.Round(time.Second), n,
				float64(n)/took.Seconds(), s.Kills, s.Opens, s.Recovered, s.Steps, next)
		}
		var stats *power.Stats
		stats, failed = c.Run(ctx)
		stats.Table(os.Stdout)
		for w, e := range stats.Events {
			fmt.Printf("%s %.1f\n", w, float64(e[0])/float64(e[1]))
		}
		if failed != nil {
			failed = power.Minimise(failed)
		}
	}
	if failed == nil {
		return
	}
	for _, d := range failed.Did {
		fmt.Println(d)
	}
	fmt.Println(failed.What)
	fmt.Println(failed.Stack)
	fmt.Println(failed.Plan.Command())
	os.Exit(1)
}
