// Broker puts the same load on seglog's broker and on Apache Kafka, in turns, and
// writes what came out as tables.
//
//	cd bench/broker && go run . [-quick] [-run regexp] [-rounds N] [-docs DIR] [-results FILE]
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
	"strings"

	"github.com/seglog/seglog/bench/rounds"
)

func main() {
	var serve string
	rounds.Command{
		Name: "broker", What: "rows, as produce/100B/p=1/,", Rounds: 3, Disk: "10 GiB",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&serve, "serve", "", "more `flags` for seglog serve, as \"--metrics :9308 --pprof\"")
		},
		Run: func(ctx context.Context, o rounds.Options) error { return run(ctx, o, strings.Fields(serve)) },
	}.Main()
}

func run(ctx context.Context, o rounds.Options, serve []string) (err error) {
	how := amounts{bytes: 1 << 30, seconds: 10}
	if o.Quick {
		how = amounts{bytes: 128 << 20, seconds: 2}
	}
	var chosen []row
	for _, r := range rows() {
		if o.Only.MatchString(r.name) {
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-run %q matches no row; there are:\n%s", o.Only, names(rows()))
	}
	nodes, err := startAll(ctx, o.Dir, serve)
	defer func() {
		for _, n := range nodes {
			if stopped := n.Stop(); err == nil {
				err = stopped
			}
		}
	}()
	if err != nil {
		return err
	}
	got := newResults(nodes, o.Rounds, o.Results)
	failed := measureAll(ctx, nodes, chosen, how, got)
	if failed == nil && o.Docs != "" {
		return got.write(o.Docs)
	}
	_, err = os.Stdout.WriteString(got.markdown())
	return errors.Join(failed, err)
}
