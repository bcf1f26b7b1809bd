package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
)

const infoHelp = `Info tells of the log in DIR: its segments with offsets, sizes, times (UTC) and
seals, its watermarks, leader epochs, producers and open transactions, and
whether it was closed cleanly. It takes no lock and changes nothing. Offset
ranges are half-open: [first, next).

What is durable is shown as the log's last checkpoint has it; behind that, what
was appended since survives the process and perhaps not the machine. Where the
next open will repair something, or the log is damaged (exit code 1), it says
what. The high watermark of a broker's log is the one that the broker noted
last, which it does every few seconds.

All of it is exact, so what no checkpoint of ours vouches for is verified first:
what was appended since, after a crash, and all of a log that another program
wrote.

Of a broker's log directory, stopped or in use, it tells of all partitions: a
row for each with its offsets, segments, times, newest leader epoch, producers
and open transactions. Partitions that are no live ones are there too: future
(being moved here), stray (not known to the cluster) and deleted.`

func newInfo() *cobra.Command {
	var asJSON, producers bool
	cmd := &cobra.Command{
		Use:   "info DIR",
		Short: "Show segments, offsets, sizes, times and watermarks",
		Long:  infoHelp,
		Args:  cobra.ExactArgs(1),
		RunE: runs(func(cmd *cobra.Command, args []string) (err error) {
			if names, ok := partitionsIn(args[0]); ok {
				if producers {
					return usagef("--producers is for one log: name one of the partitions in %s", args[0])
				}
				return infoDir(cmd.Context(), args[0], names, cmd.OutOrStdout(), cmd.ErrOrStderr(), asJSON)
			}
			shown := &scanning{stderr: cmd.ErrOrStderr(), total: logBytes(args[0])}
			l, err := openLog(cmd.Context(), args[0], log.Options{Mode: log.ReadOnly, Trace: shown.trace()})
			shown.end()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			i := gatherInfo(l, producers)
			write := i.writeText
			if asJSON {
				write = i.writeJSON
			}
			if err := write(cmd.OutOrStdout()); err != nil {
				return err
			}
			return l.Recovery().Err()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&producers, "producers", false, fmt.Sprintf("tell of each producer, even if there are more than %d", fewProducers))
	return cmd
}

// writeText writes for people: what there is in a table, then the rest in
// sentences.
func (i *logInfo) writeText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SEGMENT\tOFFSETS\tSIZE\tINDEX\tTIMEINDEX\tFROM\tTO\tSEAL")
	for _, s := range i.Segments {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Base, offsetRange(s.First, s.Next), formatSize(s.Bytes),
			formatSize(s.IndexBytes), formatSize(s.TimeIndexBytes), formatTime(s.From), formatTime(s.To), dash(s.Seal))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	state := "not closed cleanly, or being written"
	switch {
	case i.Foreign:
		state = "written by another program"
	case i.Clean:
		state = "closed cleanly"
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nsegments\t%d\n", len(i.Segments))
	fmt.Fprintf(t, "offsets\t%s (%s)\n", offsetRange(i.LogStart, i.End), humanize.Comma(i.End-i.LogStart))
	fmt.Fprintf(t, "size\t%s (%s bytes)\n", formatSize(i.Bytes), humanize.Comma(i.Bytes))
	fmt.Fprintf(t, "log start\t%d\n", i.LogStart)
	fmt.Fprintf(t, "durable\t%d\n", i.Durable)
	fmt.Fprintf(t, "last stable\t%d\n", i.LastStable)
	fmt.Fprintf(t, "high watermark\t%d\n", i.HighWatermark)
	fmt.Fprintf(t, "end\t%d\n", i.End)
	i.stateInfo.writeText(t)
	fmt.Fprintf(t, "state\t%s\n", state)
	for _, r := range i.Repairs {
		fmt.Fprintf(t, "next open\t%s\n", r)
	}
	for _, n := range i.Notes {
		fmt.Fprintf(t, "note\t%s\n", n)
	}
	for _, d := range i.Damage {
		fmt.Fprintf(t, "damage\t%s\n", d)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return i.writeProducers(w)
}

func offsetRange(first, next int64) string { return fmt.Sprintf("[%d, %d)", first, next) }

// formatTime is RFC 3339 in UTC with the milliseconds records have.
func formatTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(timeLayout)
}

const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
