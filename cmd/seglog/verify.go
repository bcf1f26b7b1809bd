package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
)

const verifyHelp = `Verify reads all of the log in DIR and holds batch checksums, record bodies,
indexes and seals (the xxhash64 of a whole sealed segment) against each other.
It takes no lock and changes nothing. DIR may be a broker's log directory: then
all partitions in it are checked, two at a time.

With --seals a sealed segment whose xxhash64 is its seal is looked at no further:
each byte is as it was when it was sealed. Its indexes, which are derived, are not
read, and its batches not counted. Segments without a seal, the newest always, are
checked as ever.

Each fault is a line on stdout, FILE:POSITION: offset N: what, and makes the
exit code 1. Notes are no faults: what the next open puts right without loss.`

func newVerify() *cobra.Command {
	var seals bool
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Check every checksum, seal and index",
		Long:  verifyHelp,
		Args:  cobra.ExactArgs(1),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			check := log.Verify
			if seals {
				check = log.VerifySeals
			}
			return verify(cmd.Context(), check, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	cmd.Flags().BoolVar(&seals, "seals", false, "prove sealed segments by their seals alone")
	return cmd
}

// check is log.Verify or log.VerifySeals.
type check func(ctx context.Context, dir string, o log.Options, progress func(done, total int64)) (*recovery.Verification, error)

func verify(ctx context.Context, check check, dir string, stdout, stderr io.Writer) error {
	if names, ok := partitionsIn(dir); ok {
		return verifyDir(ctx, check, dir, names, stdout, stderr)
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	var shown *progress
	v, err := check(ctx, dir, log.Options{}, func(done, total int64) {
		if shown == nil {
			shown = newProgress(stderr, "verifying", bytesOf, total)
		}
		shown.set(done)
	})
	shown.end()
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	if err := writeVerification(stdout, v); err != nil {
		return err
	}
	if n := len(v.Faults); n > 0 {
		return fmt.Errorf("%s in %s; readers pass over damaged batches, a copy or a replica may have those records; bad indexes are not followed",
			plural(int64(n), "fault"), dir)
	}
	return nil
}

func writeVerification(w io.Writer, v *recovery.Verification) error {
	return writeVerificationTo(w, v, redOn(w))
}

func writeVerificationTo(w io.Writer, v *recovery.Verification, red func(string) string) error {
	for _, n := range v.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	for _, fault := range v.Faults {
		line := fault.Error()
		var damage *log.DamageError
		if errors.As(fault, &damage) {
			line = whereDamaged(damage)
		}
		fmt.Fprintln(w, red(oneLine(line)))
	}
	verdict := "ok"
	if len(v.Faults) > 0 {
		verdict = "bad"
	}
	_, err := fmt.Fprintf(w, "%s: %s, %s, %s, %s, %s\n", verdict, plural(int64(v.Segments), "segment"), plural(v.Batches, "batch"),
		plural(v.Records, "record"), formatSize(v.Bytes), plural(int64(v.Seals), "seal"))
	return err
}

// plural counts things in words.
func plural(n int64, thing string) string {
	if n != 1 {
		switch thing {
		case "batch":
			thing = "batches"
		case "entry":
			thing = "entries"
		default:
			thing += "s"
		}
	}
	return humanize.Comma(n) + " " + thing
}
