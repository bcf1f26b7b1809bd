package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/segment"
)

const explainHelp = `Explain looks an offset or a time up in the log in DIR, as a reader does, and
tells the way step by step: which segments the binary search compared, the entry
of the sparse index at or below, from which byte the scan went on, and how many
batches and bytes it passed. It takes no lock.`

func newExplain() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:     "explain DIR [OFFSET]",
		Short:   "Tell how an offset or a time is looked up",
		Long:    explainHelp,
		Example: "  seglog explain d 368801\n  seglog explain d --at -15m",
		Args:    cobra.RangeArgs(1, 2),
		RunE: runs(func(cmd *cobra.Command, args []string) (err error) {
			byTime := cmd.Flags().Changed("at")
			if byTime == (len(args) == 2) {
				return usagef("say what to look up: seglog explain DIR OFFSET, or seglog explain DIR --at TIME")
			}
			var offset int64
			var t time.Time
			if byTime {
				t, err = parseTime(at, time.Now())
			} else if offset, err = strconv.ParseInt(args[1], 10, 64); err != nil || offset < 0 {
				err = usagef("%q is no offset; write a number of 0 or more", args[1])
			}
			if err != nil {
				return err
			}
			l, err := openLog(cmd.Context(), args[0], log.Options{Mode: log.ReadOnly})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			if byTime {
				return explainTime(cmd.OutOrStdout(), l, t)
			}
			return explainOffset(cmd.OutOrStdout(), l, offset)
		}),
	}
	cmd.Flags().StringVar(&at, "at", "", "look a time up: RFC 3339, a date, -15m, or now")
	return cmd
}

func explainOffset(w io.Writer, l *log.Log, offset int64) error {
	e, err := l.Explain(offset)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "looking for offset %d in %s, offsets %s\n\n", offset, plural(int64(e.Segments), "segment"), offsetRange(l.First(), l.End()))
	fmt.Fprintf(w, "1. segments: search the base offsets for the greatest at or below %d\n", offset)
	compared := make(map[int64]bool)
	for _, base := range e.Compared {
		if compared[base] {
			continue // the tree asks both ways, which tells nothing new
		}
		compared[base] = true
		if base <= offset {
			fmt.Fprintf(w, "     compared %d: at or below\n", base)
		} else {
			fmt.Fprintf(w, "     compared %d: above\n", base)
		}
	}
	fmt.Fprintf(w, "   the segment based at %d, %s\n", e.Segment, segment.Name(e.Segment, segment.LogSuffix))
	explainLookup(w, 2, e.Segment, offset, e.Lookup)
	switch {
	case e.Found:
		fmt.Fprintf(w, "   at position %d the batch of offsets %d to %d, which holds it: %s, %s\n", e.Lookup.Position,
			e.Batch.BaseOffset, e.Batch.LastOffset(), plural(int64(e.Batch.Count), "record"), formatBytes(int64(e.Batch.Size)))
	case e.Batch.Size > 0:
		fmt.Fprintf(w, "   no batch holds it; at position %d the next one, of offsets %d to %d\n", e.Lookup.Position, e.Batch.BaseOffset, e.Batch.LastOffset())
	default:
		fmt.Fprintf(w, "   no batch holds it, and none follows in this segment\n")
	}
	return nil
}

// explainLookup tells the two steps within a segment: the index, the scan.
func explainLookup(w io.Writer, step int, base, offset int64, l segment.Lookup) {
	relative := offset - base
	fmt.Fprintf(w, "%d. offset index: search %s for the greatest relative offset at or below %d - %d = %d\n",
		step, plural(int64(l.Entries), "entry"), offset, base, relative)
	if l.Slot < 0 {
		fmt.Fprintf(w, "   none: begin at the segment's start, position 0\n")
	} else {
		fmt.Fprintf(w, "   entry %d: relative offset %d (offset %d) at position %d\n", l.Slot, l.Entry.Offset-base, l.Entry.Offset, l.Entry.Position)
	}
	fmt.Fprintf(w, "%d. scan: from position %d, passed %s, %s\n", step+1, l.Entry.Position, plural(int64(l.Batches), "batch"), formatBytes(l.Bytes))
}

// formatBytes is exact, for positions to be checked by.
func formatBytes(n int64) string { return plural(n, "byte") }
