package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

const appendHelp = `Append makes every line of its input a record and adds them to the log in DIR,
which is created if need be. The newline is not part of the record; a last line
without one is a record too.

Lines are gathered into batches: one is appended when it has --batch records or
--batch-bytes, or --linger after its first line. With --key-sep a line is split
at the first separator into key and value; one without has no key (null).

A record survives the end of the process, kill -9 included, once its batch is
appended, which --ack tells. --sync says when it survives a loss of power too:
with each batch (always), every second (interval), or when the log is closed
(none, and the others as well).

Stopped by ^C or SIGTERM, what was read is appended and the log closed; a line
that has not ended is no record then.`

type appendFlags struct {
	keySep      string
	batch       int
	batchBytes  size
	linger      time.Duration
	sync        choice
	compression choice
	segment     size
	ack         bool
	quiet       bool
}

func newAppend() *cobra.Command {
	f := appendFlags{
		batchBytes:  1 << 20,
		sync:        choice{"interval", []string{"none", "always", "interval"}},
		compression: choice{"none", []string{"none", "gzip", "snappy", "lz4", "zstd"}},
		segment:     1 << 30,
	}
	cmd := &cobra.Command{
		Use:     "append DIR",
		Short:   "Append lines of stdin as records",
		Long:    appendHelp,
		Example: "  seq 1000000 | seglog append d\n  tail -f app.log | seglog append d --compression zstd\n  seglog append d --key-sep : <pairs.txt",
		Args:    cobra.ExactArgs(1),
		RunE:    runs(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.keySep, "key-sep", "", "split lines into key and value at the first of these (\\t is a tab)")
	flags.IntVar(&f.batch, "batch", 1000, "most records of a batch")
	flags.Var(&f.batchBytes, "batch-bytes", "most bytes of a batch that has more than one record")
	flags.DurationVar(&f.linger, "linger", 50*time.Millisecond, "append a batch this long after its first line at the latest")
	flags.Var(&f.sync, "sync", "when records survive a loss of power")
	flags.Var(&f.compression, "compression", "codec of the batches")
	flags.Var(&f.segment, "segment-bytes", "most bytes of a segment, up to 2GiB less one byte")
	flags.BoolVar(&f.ack, "ack", false, "print the last offset of each batch when it is appended")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no summary at the end")
	return cmd
}

func (f *appendFlags) run(cmd *cobra.Command, dir string) (err error) {
	sep, err := parseSeparator(f.keySep)
	if err != nil {
		return err
	}
	if f.batch < 1 || f.linger < 0 {
		return usagef("--batch wants 1 or more records, --linger 0 or more time")
	}
	if f.segment < record.HeaderSize || f.segment > 1<<31-1 {
		return usagef("--segment-bytes %s is out of range; choose 61 bytes to 2GiB less one byte", f.segment.String())
	}
	codec, err := record.ParseCodec(f.compression.value)
	if err != nil {
		return usageError{err}
	}
	ctx := cmd.Context()
	if names, ok := partitionsIn(dir); ok {
		return usagef("%s is a log directory; name a partition in it, there are %s", dir, listNames(names))
	}
	l, err := log.Open(ctx, dir, log.Options{SegmentBytes: int64(f.segment), Compression: codec})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	a := &appender{
		log:    l,
		batch:  newBatch([]byte(sep), f.batch, int(min(f.batchBytes, f.segment))),
		in:     lines{delimiter: []byte{'\n'}, most: int(min(f.segment, record.DefaultMaxBytes))},
		synced: f.sync.value == "always",
		linger: f.linger,
	}
	if f.ack {
		a.ack = cmd.OutOrStdout()
	}
	in := cmd.InOrStdin()
	if total, ok := regularSize(in); ok {
		a.progress = newProgress(cmd.ErrOrStderr(), "appending", bytesOf, total)
	} else if !isTerminal(in) {
		a.progress = newProgress(cmd.ErrOrStderr(), "appending", bytesOf, -1)
	}
	stopSync := func() error { return nil }
	if f.sync.value == "interval" {
		stopSync = syncEverySecond(l)
	}
	began := time.Now()
	err = a.run(ctx, newChunks(in))
	a.progress.end()
	closing := errors.Join(stopSync(), l.Close())
	if !f.quiet {
		a.summary(cmd.ErrOrStderr(), time.Since(began))
	}
	if closing != nil && errors.As(err, new(interrupted)) {
		return closing // weighs more than the signal
	}
	return errors.Join(err, closing)
}

// syncEverySecond runs the log's upkeep until the func it returns is called.
// A sync that fails makes the appends fail, so they need not be told.
func syncEverySecond(l *log.Log) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Maintain(ctx, log.Every{Sync: time.Second}) }()
	return func() error {
		cancel()
		return <-done
	}
}

func (a *appender) summary(w io.Writer, took time.Duration) {
	if a.appended == 0 {
		fmt.Fprintln(w, "appended nothing")
		return
	}
	fmt.Fprintf(w, "appended %s at offsets %d to %d in %.3gs (%s records/s)\n", plural(a.appended, "record"),
		a.first, a.last, took.Seconds(), humanize.Comma(int64(float64(a.appended)/max(took.Seconds(), 1e-9))))
}
