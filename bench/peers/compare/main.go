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
// docs/charts. With -run or -quick it prints, unless -docs says where to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("compare", flag.ExitOnError)
	only := flags.String("run", "", "only workloads whose name this `regexp` matches, as Append/100B")
	rounds := flags.Int("rounds", 7, "how many rounds")
	quick := flags.Bool("quick", false, "one round of little data, to see that everything runs")
	docs := flags.String("docs", "", "write to this `directory`; where it is not given a whole run writes to ../../docs and others print")
	below := flags.String("dir", os.TempDir(), "write data below this `directory`: up to 3 GiB")
	journaled := flags.String("journaled", "", "a `directory` of an ext4 with a journal; where it is not given root makes one in a file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds is %d, and has to be at least 1", *rounds)
	}
	if *docs == "" && *only == "" && !*quick {
		*docs = filepath.Join("..", "..", "docs")
	}
	if *quick {
		*rounds = 1
	}
	chosen := choose(pattern)
	if len(chosen) == 0 {
		return fmt.Errorf("-run %q matches no workload; there are:\n%s", *only, strings.Join(names(), "\n"))
	}

	dir, err := os.MkdirTemp(*below, "compare")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := &runner{dir: dir, quick: *quick, journaled: *journaled}
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
	if err := r.rounds(ctx, chosen, *rounds, figures); err != nil {
		return err
	}
	report := newReport(chosen, figures, *rounds)
	report.quick = *quick
	if *docs == "" {
		_, err = os.Stdout.WriteString(report.markdown(""))
	} else {
		err = report.write(*docs)
	}
	if err == nil && *quick && r.failed > 0 {
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
