package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
)

const repairHelp = `Repair reads every batch of a log, whatever its checkpoint vouches for, and says
what it would do to make the log one that can be appended to, and which offsets
would be lost. Then it asks, unless --yes was given or nothing would be lost.

Only bad bytes are taken out of a log. They are kept aside in
DIR/seglog.damaged-OFFSET; the records behind them keep their offsets, and lost
offsets are not given out again. What a crash left half done is put in order as
every open does. At last the log is verified.

DIR may be a broker's log directory: then each of its partitions is repaired.
With --dry-run it only says what it would do, takes no lock and changes nothing.
The exit code is 1 if there was damage that is not repaired.`

type repairFlags struct{ dryRun, yes bool }

func newRepair() *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		Use:     "repair DIR",
		Short:   "Make a damaged log one that can be appended to",
		Long:    repairHelp,
		Example: "  seglog repair d --dry-run\n  seglog repair d --yes",
		Args:    cobra.ExactArgs(1),
		RunE:    runs(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }),
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say what would be done and lost")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return cmd
}

// planned is a log and what repairing it comes to.
type planned struct {
	dir    string
	report *recovery.Report
}

func (f *repairFlags) run(cmd *cobra.Command, dir string) error {
	ctx, stdout := cmd.Context(), cmd.OutOrStdout()
	dirs := []string{dir}
	if names, ok := partitionsIn(dir); ok {
		dirs = nil
		for _, n := range names {
			if path := filepath.Join(dir, n.String()); hasSegments(path) {
				dirs = append(dirs, path)
			}
		}
	} else if err := checkDir(dir); err != nil {
		return err
	}
	var plans []planned
	lost := 0
	for _, d := range dirs {
		r, err := log.Inspect(ctx, d, log.Options{Mode: log.Repair})
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return fmt.Errorf("%s: %w", d, err)
		}
		if err := writePlan(stdout, d, r); err != nil {
			return err
		}
		if len(r.Actions)+len(r.Damage) > 0 {
			plans = append(plans, planned{d, r})
		}
		lost += len(r.Damage)
	}
	switch {
	case len(plans) == 0:
		_, err := fmt.Fprintf(stdout, "nothing to repair in %s\n", dir)
		return err
	case f.dryRun && lost > 0:
		return fmt.Errorf("%s, nothing was changed", plural(int64(lost), "damaged place"))
	case f.dryRun:
		_, err := fmt.Fprintln(stdout, "nothing would be lost, nothing was changed")
		return err
	case lost > 0 && !f.yes:
		if err := f.ask(cmd); err != nil {
			return err
		}
	}
	for _, p := range plans {
		if err := repair(ctx, p.dir, stdout, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	return nil
}

// ask wants a yes from a person.
func (f *repairFlags) ask(cmd *cobra.Command) error {
	if !isTerminal(cmd.InOrStdin()) {
		return usagef("offsets would be lost and there is nobody to ask: --yes if that is meant, --dry-run to look only")
	}
	fmt.Fprint(cmd.ErrOrStderr(), "Repair? [y/N] ")
	line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// writePlan says what would be done and lost.
func writePlan(w io.Writer, dir string, r *recovery.Report) error {
	for _, a := range r.Actions {
		fmt.Fprintf(w, "%s: %s\n", dir, a)
	}
	var err error
	for _, d := range r.Damage {
		_, err = fmt.Fprintf(w, "%s: lost: %s\n", dir, lostOffsets(d))
	}
	return err
}

// lostOffsets says what a damaged place costs. How many records were there is not
// known: compaction may have left fewer than offsets.
func lostOffsets(d *log.DamageError) string {
	if d.Next <= d.Offset {
		return fmt.Sprintf("what followed offset %d in segment %d; how much is not known", d.Offset, d.Segment)
	}
	return fmt.Sprintf("offsets %s of segment %d, at most %s", offsetRange(d.Offset, d.Next), d.Segment, plural(d.Next-d.Offset, "record"))
}

// repair does it, and looks whether all is well.
func repair(ctx context.Context, dir string, stdout, stderr io.Writer) (err error) {
	l, err := openLog(ctx, dir, log.Options{Mode: log.Repair})
	if err != nil {
		return err
	}
	did := len(l.Recovery().Actions)
	_, err = fmt.Fprintf(stdout, "%s: %s done; the log holds %s\n", dir, plural(int64(did), "repair"), offsetRange(l.First(), l.End()))
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	return verify(ctx, log.Verify, dir, stdout, stderr)
}
