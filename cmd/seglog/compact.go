package main

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/retention/compact"
)

const compactHelp = `Compact rewrites the log in DIR so that of each key the newest record is left, as
Kafka does of a topic whose cleanup.policy is compact. Offsets stay as they are.
The newest segment is left alone, and so is what an open transaction may change.
A record without a value says that its key is deleted; it stays for
--delete-retention after the compaction that meets it first, for readers to see.

Records without a key would all go. If there are any nothing is done, unless
--drop-keyless says that it is meant.

With --dry-run it counts what would go, takes no lock and changes nothing.
Deletions whose time has come are not among what it counts.`

type compactFlags struct {
	deleteRetention, minLag age
	mapBytes                size
	dropKeyless, dryRun     bool
}

func newCompact() *cobra.Command {
	var f compactFlags
	cmd := &cobra.Command{
		Use:     "compact DIR",
		Short:   "Keep the newest record of each key",
		Long:    compactHelp,
		Example: "  seglog compact d --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE:    runs(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }),
	}
	flags := cmd.Flags()
	flags.Var(&f.deleteRetention, "delete-retention", "how long deletions stay (a day)")
	flags.Var(&f.minLag, "min-lag", "leave segments alone whose newest record is younger")
	flags.Var(&f.mapBytes, "map-bytes", "memory for the keys (128MiB)")
	flags.BoolVar(&f.dropKeyless, "drop-keyless", false, "drop records without a key")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only count what would be dropped")
	return cmd
}

func (f *compactFlags) run(cmd *cobra.Command, dir string) (err error) {
	settings := compact.Options{DeleteRetention: time.Duration(f.deleteRetention), MinLag: time.Duration(f.minLag), MapBytes: int64(f.mapBytes)}
	if _, err := settings.WithDefaults(); err != nil {
		return usagef("%v", err)
	}
	o := log.Options{Compaction: &settings}
	if f.dryRun {
		o.Mode = log.ReadOnly
	}
	ctx, stdout := cmd.Context(), cmd.OutOrStdout()
	l, err := openLog(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	plan, err := l.Dirty()
	if err != nil {
		return err
	}
	if plan.Skip != "" {
		_, err := fmt.Fprintf(stdout, "nothing to compact: %s\n", plan.Skip)
		return err
	}
	count, err := countSuperseded(ctx, l, plan.End, newProgress(cmd.ErrOrStderr(), "counting", records, -1))
	if err != nil {
		return err
	}
	switch {
	case f.dryRun:
		return count.write(stdout, plan)
	case count.keyless > 0 && !f.dropKeyless:
		return usagef("%s have no key and would be dropped; --drop-keyless if that is meant", plural(count.keyless, "record"))
	}
	result, err := l.Compact(ctx)
	_, printErr := fmt.Fprintf(stdout, "dropped %s below offset %d; %s, %s before; %s, %s now\n", plural(result.Dropped, "record"), result.MappedTo,
		plural(result.Segments.Before, "segment"), formatSize(result.Bytes.Before), plural(result.Segments.After, "segment"), formatSize(result.Bytes.After))
	return errors.Join(err, printErr)
}

// superseded is what there is and what would go, in records and in bytes of
// their keys and values.
type superseded struct {
	all, allBytes   int64
	gone, goneBytes int64
	keyless         int64
}

// countSuperseded counts the committed records below end.
func countSuperseded(ctx context.Context, l *log.Log, end int64, p *progress) (c superseded, err error) {
	defer p.end()
	newest, done := make(map[uint64]int64), int64(0)
	seed := maphash.MakeSeed()
	for _, counting := range []bool{false, true} {
		for r, err := range l.Isolated(log.ReadCommitted).From(l.First()) {
			if err != nil {
				return c, err
			}
			if r.Offset >= end {
				break
			}
			if done++; done%1024 == 0 {
				if ctx.Err() != nil {
					return c, context.Cause(ctx)
				}
				p.set(done)
			}
			if !counting {
				if r.Key != nil {
					newest[maphash.Bytes(seed, r.Key)] = r.Offset
				}
				continue
			}
			bytes := int64(len(r.Key) + len(r.Value))
			c.all, c.allBytes = c.all+1, c.allBytes+bytes
			if r.Key == nil {
				c.keyless++
			}
			if r.Key == nil || newest[maphash.Bytes(seed, r.Key)] > r.Offset {
				c.gone, c.goneBytes = c.gone+1, c.goneBytes+bytes
			}
		}
	}
	return c, nil
}

func (c superseded) write(w io.Writer, plan compact.Plan) error {
	fmt.Fprintf(w, "dirty: offsets %s, %s; clean: %s; ratio %.2f; it ends there because of %s\n", offsetRange(plan.FirstDirty, plan.End),
		formatSize(plan.DirtyBytes), formatSize(plan.CleanBytes), plan.Ratio(), plan.EndedBy)
	without := ""
	if c.keyless > 0 {
		without = fmt.Sprintf(", %s of them without a key", humanize.Comma(c.keyless))
	}
	_, err := fmt.Fprintf(w, "would drop %s of %s%s: %s of %s of keys and values\n", humanize.Comma(c.gone), plural(c.all, "record"), without,
		formatSize(c.goneBytes), formatSize(c.allBytes))
	return err
}
