package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/internal/coordinator"
	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/segment"
)

const dumpHelp = `Dump prints what is in the files of a log, as it is: of a .log file a line for
each batch, with --records also its records; of an .index, .timeindex, .txnindex
or .snapshot file its entries. It needs no more than the file, takes no lock and
changes nothing. Of a directory, a log's or a broker's, it prints all .log files.

The records of __consumer_offsets and __transaction_state, known by the
directory's name, are printed as the JSON that kafka-dump-log makes of them.
--as offsets or --as transactions does so whatever the name, --as bytes never.

A batch whose checksum fails is printed as BAD, the dump goes on at the next
whole one, and the exit code is 1. Zeros at the end of a file are room that was
allocated for appends.`

// dumper prints files.
type dumper struct {
	ctx     context.Context
	out     *bufio.Writer
	red     func(string) string
	records bool
	as      choice
	decode  coordinator.Decode // of the file's records, nil for none
	faults  int
}

func newDump() *cobra.Command {
	var records bool
	as := choice{"auto", []string{"auto", "bytes", "offsets", "transactions"}}
	cmd := &cobra.Command{
		Use:     "dump FILE|DIR...",
		Short:   "Print batches, records and index entries of files",
		Long:    dumpHelp,
		Example: "  seglog dump --records d/00000000000000000000.log\n  seglog dump d/*.timeindex",
		Args:    cobra.MinimumNArgs(1),
		RunE: runs(func(cmd *cobra.Command, args []string) error {
			stdout := cmd.OutOrStdout()
			widenPipe(stdout)
			d := &dumper{ctx: cmd.Context(), out: bufio.NewWriterSize(stdout, outputBytes), red: redOn(stdout), records: records, as: as}
			var files []string
			for _, name := range args { // before anything is printed
				list, err := logFiles(name)
				if err != nil {
					return err
				}
				files = append(files, list...)
			}
			for _, name := range files {
				if _, err := d.kind(name); err != nil {
					return err
				}
			}
			for _, name := range files {
				if err := d.file(name); err != nil {
					return errors.Join(err, d.out.Flush())
				}
			}
			if err := d.out.Flush(); err != nil {
				return err
			}
			if d.faults > 0 {
				return fmt.Errorf("%s; seglog verify DIR tells what it means for the log", plural(int64(d.faults), "fault"))
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&records, "records", false, "print the records of each batch too")
	cmd.Flags().Var(&as, "as", "what keys and values are: those of a coordinator's topic, or bytes")
	return cmd
}

// decoder is what reads the records of a file's topic, nil for nothing.
func (d *dumper) decoder(file string) coordinator.Decode {
	switch d.as.value {
	case "bytes":
		return nil
	case "offsets":
		return coordinator.Offsets
	case "transactions":
		return coordinator.Transactions
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil
	}
	name, _ := kafkadir.ParseName(filepath.Base(filepath.Dir(abs)))
	return coordinator.Topics[name.Topic]
}

// kind is the func that prints a file of that name.
func (d *dumper) kind(name string) (func(data []byte) error, error) {
	file := filepath.Base(name)
	if strings.HasPrefix(file, "seglog.torn-") || strings.HasPrefix(file, "seglog.damaged-") {
		return d.log, nil // what recovery kept aside is a piece of one
	}
	base, suffix, ok := segment.ParseName(file)
	for _, state := range []string{segment.CleanedSuffix, segment.SwapSuffix, segment.DeletedSuffix} {
		suffix = strings.TrimSuffix(suffix, state)
	}
	if ok {
		switch suffix {
		case segment.LogSuffix:
			return d.log, nil
		case segment.IndexSuffix:
			return func(data []byte) error { return d.offsetIndex(base, data) }, nil
		case segment.TimeIndexSuffix:
			return func(data []byte) error { return d.timeIndex(base, data) }, nil
		case segment.TxnIndexSuffix:
			return d.txnIndex, nil
		case segment.SnapshotSuffix:
			return d.snapshot, nil
		}
	}
	return nil, usagef("%s is not named like a file of a log, %s or with .index, .timeindex, .txnindex or .snapshot", name, segment.Name(0, segment.LogSuffix))
}

func (d *dumper) file(name string) (err error) {
	dump, err := d.kind(name)
	if err != nil {
		return err
	}
	// Mapped: a segment may be larger than the memory. One that shrinks
	// meanwhile is an error and no crash.
	defer vfs.Unguard(vfs.Guard(), &err)
	f, err := vfs.OS.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return missing(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	d.decode = d.decoder(name)
	d.printf("%s: %s\n", name, formatBytes(size))
	if size == 0 {
		return nil
	}
	m, err := f.Map(size, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Unmap()) }()
	return dump(m.Bytes())
}

// missing makes an absent file a fault of the call.
func missing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return usagef("%v; check the name", err)
	}
	return err
}

// printf keeps an error in out, where the next Flush or check finds it.
func (d *dumper) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// bad prints a line about something wrong.
func (d *dumper) bad(format string, args ...any) {
	d.faults++
	d.printf("%s\n", d.red(oneLine(fmt.Sprintf(format, args...))))
}

// stop says whether to go on: not if nobody reads or a signal came.
func (d *dumper) stop() error {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	_, err := d.out.Write(nil) // the error of an earlier write
	return err
}

// trailingZeros is how many bytes at the end of b are zero.
func trailingZeros(b []byte) int {
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return len(b) - n
}
