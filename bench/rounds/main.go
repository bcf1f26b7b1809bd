package rounds

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

// Options are what both comparisons are told.
type Options struct {
	Only    *regexp.Regexp // of names
	Rounds  int            // one at least
	Quick   bool           // one round of little data
	Docs    string         // the directory to write the page in, "" to print
	Dir     string         // for data, removed at the end
	Results io.Writer      // of every round: see Line
}

// A Command is a comparison.
type Command struct {
	Name   string
	What   string // that is measured, as a name is explained: "rows ..., as produce/100B"
	Rounds int    // where none are given
	Disk   string // how much there is below Dir at the most
	// Flags adds its own flags, if it has any.
	Flags func(*flag.FlagSet)
	Run   func(context.Context, Options) error
}

// Main is the main function of a comparison.
func (c Command) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name, err)
		os.Exit(1)
	}
}

func (c Command) run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet(c.Name, flag.ExitOnError)
	only := flags.String("run", "", "only "+c.What+" whose name this `regexp` matches")
	rounds := flags.Int("rounds", c.Rounds, "how many rounds are counted")
	quick := flags.Bool("quick", false, "one round of little data, to see that everything runs")
	docs := flags.String("docs", "", "write to this `directory`; where it is not given a whole run writes to ../../docs and others print")
	below := flags.String("dir", os.TempDir(), "write data below this `directory`: up to "+c.Disk)
	results := flags.String("results", "", "write every round to this `file`, for benchstat: see bench/results")
	if c.Flags != nil {
		c.Flags(flags)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	o := Options{Rounds: *rounds, Quick: *quick, Docs: *docs, Results: io.Discard}
	if o.Only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if o.Rounds < 1 {
		return fmt.Errorf("-rounds is %d, and has to be at least 1", o.Rounds)
	}
	if o.Docs == "" && *only == "" && !o.Quick {
		o.Docs = filepath.Join("..", "..", "docs")
	}
	if o.Quick {
		o.Rounds = 1
	}
	if *results != "" {
		file, err := create(*results)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		o.Results = file
	}
	if o.Dir, err = os.MkdirTemp(*below, c.Name); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(o.Dir) }()
	return c.Run(ctx, o)
}
