package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
)

// startFlags say where reading starts: at one of them, or at the log's start.
type startFlags struct {
	from int64
	at   string
	last int64

	set  string // the one given, "" for none
	time time.Time
}

func (f *startFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int64Var(&f.from, "from", 0, "start at this offset")
	flags.StringVar(&f.at, "at", "", "start at the first record as late as this: RFC 3339, a date, -15m, or now")
	flags.Int64Var(&f.last, "last", 0, "start so that this many records are printed")
	cmd.MarkFlagsMutuallyExclusive("from", "at", "last")
}

// check reads the flags; it is to be called before work is begun.
func (f *startFlags) check(cmd *cobra.Command) (err error) {
	for _, name := range []string{"from", "at", "last"} {
		if cmd.Flags().Changed(name) {
			f.set = name
		}
	}
	switch {
	case f.set == "at":
		f.time, err = parseTime(f.at, time.Now())
	case f.last < 0 || f.from < 0:
		err = usagef("--%s is a number of 0 or more", f.set)
	}
	return err
}

// readable is a log as a reader at some isolation level sees it.
type readable struct {
	log.Isolated
	first int64
}

func (r readable) First() int64 { return r.first }

// place is where reading starts: skip records behind an offset.
type place struct {
	offset, skip int64
}

func (f *startFlags) place(ctx context.Context, l readable) (place, error) {
	switch f.set {
	case "from":
		return place{offset: f.from}, nil
	case "at":
		offset, err := l.OffsetAt(f.time)
		return place{offset: offset}, err
	case "last":
		return lastRecords(ctx, l, f.last)
	}
	return place{offset: l.First()}, nil
}

// lastRecords is where to start for n records up to the end, or the log's start
// if there are fewer. Offsets may hold no record, so the records of a guess are
// counted, and of the one before it where that was too few. The steps double,
// so that a log of mostly gaps is not walked over and over.
func lastRecords(ctx context.Context, l readable, n int64) (place, error) {
	from, step := l.End(), n
	for missing := n; missing > 0 && from > l.First(); step *= 2 {
		end := from
		from = max(end-step, l.First())
		found, err := countRecords(ctx, l, from, end)
		if err != nil {
			return place{}, err
		}
		if found >= missing {
			return place{from, found - missing}, nil
		}
		missing -= found
	}
	return place{offset: from}, nil
}

// countRecords counts the offsets in [from, end) that hold records. What is
// damaged holds none.
func countRecords(ctx context.Context, l readable, from, end int64) (n int64, err error) {
	for r, err := range untilDone(ctx, l.From(from), nil) {
		switch {
		case errors.As(err, new(*log.DamageError)):
		case err != nil:
			return 0, err
		case r.Offset >= end:
			return n, nil
		default:
			n++
		}
	}
	return n, nil
}
