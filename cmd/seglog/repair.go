package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
)

const repairHelp = `Repair verifies every batch of a log, whatever its checkpoint vouches for, and
cuts out what is damaged. The bad bytes alone are taken, and kept aside in
DIR/seglog.damaged-OFFSET; the records behind them keep their offsets. It says
what it did.

On a log without damage it does what every open does after a crash, mostly
nothing.`

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
