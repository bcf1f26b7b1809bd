// Compare runs the benchmarks of seglog, of the bare hardware (bench/limit) and of
// the peers in turns, and writes what came out as tables and charts.
//
//	cd bench/peers && go run ./compare
//
// In a round each of them does a workload once, one after the other, in a process
// of its own; a ratio is the median of the ratios of the rounds, so that what
// disturbs the machine for a while disturbs both sides of it. Processes append to
// memory that was touched just before, and what they write is removed.
//
// A whole run replaces what is between the markers in docs/BENCHMARKS.md, and
// docs/charts. With -run or -quick it prints, unless -docs says where to. With
// -results it also keeps what the processes printed: bench/results says what for.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/seglog/seglog/bench/rounds"
)

func main() {
	var journaled string
	rounds.Command{
		Name: "compare", What: "workloads, as Append/100B,", Rounds: 7, Disk: "3 GiB",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&journaled, "journaled", "", "a `directory` of an ext4 with a journal; where it is not given root makes one in a file")
		},
		Run: func(ctx context.Context, o rounds.Options) error { return run(ctx, o, journaled) },
	}.Main()
}

func run(ctx context.Context, o rounds.Options, journaled string) (err error) {
	chosen := choose(o.Only)
	if len(chosen) == 0 {
		return fmt.Errorf("-run %q matches no workload; there are:\n%s", o.Only, strings.Join(names(), "\n"))
	}
	r := &runner{dir: o.Dir, quick: o.Quick, journaled: journaled, results: o.Results}
	defer func() { err = firstOf(err, r.close()) }()
	if err := r.build(ctx); err != nil {
		return err
	}
	if r.journaled == "" && contains(chosen, "AppendSyncJournaled") {
		if err := r.journal(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "SKIPPED, no file system with a journal:", err)
		}
	}
	figures := make(figures)
	if err := r.rounds(ctx, chosen, o.Rounds, figures); err != nil {
		return err
	}
	report := newReport(chosen, figures, o.Rounds)
	report.quick = o.Quick
	if o.Docs == "" {
		_, err = os.Stdout.WriteString(report.markdown(""))
	} else {
		err = report.write(o.Docs)
	}
	if err == nil && o.Quick && r.failed > 0 {
		err = fmt.Errorf("%d of the processes of seglog and of the limit failed: see above", r.failed)
	}
	return err
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
