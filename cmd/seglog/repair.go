package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
)

const repairHelp = `Repair opens a log that is too damaged to be appended to: where bad bytes stand
beyond what is known to be durable and whole batches follow them. They alone are
cut out and kept aside, in DIR/seglog.damaged-OFFSET; the records behind them
keep their offsets. It says what it did.

On other logs it does what every open does after a crash, mostly nothing. Damage
to records that were durable before does not keep a log from opening: readers
pass over it, and it is left as it is.`

func newRepair() *cobra.Command {
	return &cobra.Command{
		Use:   "repair DIR",
		Short: "Make a damaged log one that can be appended to",
		Long:  repairHelp,
		Args:  cobra.ExactArgs(1),
		RunE: runs(func(cmd *cobra.Command, args []string) (err error) {
			l, err := openLog(cmd.Context(), args[0], log.Options{Mode: log.Repair})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, l.Close()) }()
			did := l.Recovery().Actions
			for _, a := range did {
				fmt.Fprintln(cmd.OutOrStdout(), a)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s; the log holds %s\n", plural(int64(len(did)), "repair"), offsetRange(l.First(), l.End()))
			return err
		}),
	}
}
