package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
)

const truncateHelp = `Truncate drops the records of the log in DIR from --to on, for good and without
asking. Batches are dropped whole: where the offset is within one, the log ends
at its start. It says where the log ends then; that offset is given out next.`

func newTruncate() *cobra.Command {
	var to int64
	cmd := &cobra.Command{
		Use:   "truncate DIR --to OFFSET",
		Short: "Drop the records from an offset on",
		Long:  truncateHelp,
		Args:  cobra.ExactArgs(1),
		RunE: runs(func(cmd *cobra.Command, args []string) (err error) {
			if to < 0 {
				return usagef("--to %d is no offset; choose one of 0 or more", to)
			}
			l, err := openLog(cmd.Context(), args[0], log.Options{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			before := l.End()
			if to > before {
				return &log.OffsetError{Offset: to, First: l.First(), End: before, Err: log.ErrBeyond}
			}
			if err := l.DropFrom(to); err != nil {
				return err
			}
			why := ""
			if l.End() < to {
				why = fmt.Sprintf(", the start of the batch that held %d", to)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "the log ends at %d%s; %s dropped\n", l.End(), why, plural(before-l.End(), "offset"))
			return err
		}),
	}
	cmd.Flags().Int64Var(&to, "to", 0, "the first offset that is dropped")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // there is no such flag
	}
	return cmd
}
