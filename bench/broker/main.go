// Broker puts the same load on seglog's broker and on Apache Kafka, in turns, and
// writes what came out as tables.
//
//	cd bench/broker && go run . [-quick] [-run regexp] [-rounds N] [-docs DIR]
//
// It is not a Kafka client. Requests are encoded once, before the clock runs, and
// sent as they are; answers are taken from the connection and thrown away, but for the
// lengths by which a fetch goes on. So what bounds the figures is the broker. That all
// records have arrived is checked by the log end offsets afterwards.
//
// Both brokers run all the while, with their defaults, and do each row one
// after the other; the first round of each warms it (Kafka's code is compiled as it
// runs) and is not counted, the median of the others is. The CPU seconds are those of
// the broker's process, from /proc, and the figure that other work on the machine
// blurs least.
//
// Kafka comes by Maven (package internal/apache); where there is no JDK of 17 or later
// seglog is measured alone, and it says so.
package main

import (
	"context"
	"errors"
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
		fmt.Fprintln(os.Stderr, "broker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("broker", flag.ExitOnError)
	only := flags.String("run", "", "only rows whose name this `regexp` matches, as produce/100B/p=1/")
	rounds := flags.Int("rounds", 3, "how many rounds of a row are counted")
	quick := flags.Bool("quick", false, "one counted round of little data, to see that everything runs")
	docs := flags.String("docs", "", "write to BENCHMARKS.md in this `directory`; where it is not given a whole run writes to ../../docs and others print")
	below := flags.String("dir", os.TempDir(), "write data below this `directory`: up to 10 GiB")
	serve := flags.String("serve", "", "more `flags` for seglog serve, as \"--metrics :9308 --pprof\"")
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
	how := amounts{bytes: 1 << 30, seconds: 10}
	if *quick {
		*rounds, how = 1, amounts{bytes: 128 << 20, seconds: 2}
	}
	var chosen []row
	for _, r := range rows() {
		if pattern.MatchString(r.name) {
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-run %q matches no row; there are:\n%s", *only, names(rows()))
	}

	dir, err := os.MkdirTemp(*below, "brokers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	nodes, err := startAll(ctx, dir, strings.Fields(*serve))
	defer func() {
		for _, n := range nodes {
			if stopped := n.stop(); err == nil {
				err = stopped
			}
		}
	}()
	if err != nil {
		return err
	}
	got := newResults(nodes, *rounds)
	failed := measureAll(ctx, nodes, chosen, how, got)
	if failed == nil && *docs != "" {
		return got.write(*docs)
	}
	_, err = os.Stdout.WriteString(got.markdown())
	return errors.Join(failed, err)
}
