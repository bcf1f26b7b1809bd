package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/retention"
)

const retainHelp = `Retain removes the oldest segments of the log in DIR that a limit lets go: those
whose records are all older than --max-age, and those without which the log
still has --max-bytes. With both, either is enough. Only whole segments go, so
what stays may be older or larger. If all are too old the log is empty then, and
goes on at the offset where it ended.

With --dry-run it lists what would go, takes no lock and removes nothing.`

type retainFlags struct {
	maxAge   age
	maxBytes size
	dryRun   bool
}

func newRetain() *cobra.Command {
	var f retainFlags
	cmd := &cobra.Command{
		Use:     "retain DIR",
		Short:   "Remove old segments by age or size",
		Long:    retainHelp,
		Example: "  seglog retain d --max-age 7d --max-bytes 10GiB --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE:    runs(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }),
	}
	flags := cmd.Flags()
	flags.Var(&f.maxAge, "max-age", "remove segments whose newest record is older")
	flags.Var(&f.maxBytes, "max-bytes", "remove segments as long as this much stays")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only list what would be removed")
	cmd.MarkFlagsOneRequired("max-age", "max-bytes")
	return cmd
}

func (f *retainFlags) run(cmd *cobra.Command, dir string) (err error) {
	var limits []retention.Policy
	if f.maxAge > 0 {
		limits = append(limits, retention.MaxAge(time.Duration(f.maxAge)))
	}
	if f.maxBytes > 0 {
		limits = append(limits, retention.MaxBytes(int64(f.maxBytes)))
	}
	o := log.Options{Retention: retention.Any(limits...)}
	if f.dryRun {
		o.Mode = log.ReadOnly
	}
	ctx := cmd.Context()
	l, err := openLog(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if f.dryRun {
		expired, err := l.Expired()
		if err != nil {
			return err
		}
		return writeRemoved(cmd.OutOrStdout(), "would remove", expired)
	}
	removed, err := l.Retain(ctx)
	return errors.Join(writeRemoved(cmd.OutOrStdout(), "removed", removed), err)
}

func writeRemoved(w io.Writer, did string, segments []log.SegmentInfo) error {
	var bytes int64
	for _, s := range segments {
		newest := "without times"
		if !s.MaxTime.IsZero() {
			newest = "newest " + formatTime(&s.MaxTime)
		}
		fmt.Fprintf(w, "%s %s: offsets %s, %s, %s\n", did, s.Path, offsetRange(s.Base, s.Next), formatSize(s.Bytes), newest)
		bytes += s.Bytes
	}
	_, err := fmt.Fprintf(w, "%s %s, %s\n", did, plural(int64(len(segments)), "segment"), formatSize(bytes))
	return err
}
