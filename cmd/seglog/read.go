package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

const readHelp = `Read prints the records of the log in DIR, all of them or from --from, --at or
--last on, up to the end, or with --follow for ever. It takes no lock: another
process may be appending. DIR is a log's, or a broker's log directory with
--partition naming one of the logs in it.

Formats: value is the value and a newline. kv is key, --key-sep, value and a
newline, without the separator where there is no key (null). json is an object
a line, with kcat's names: offset, tstype (create or logappend), ts in
milliseconds, headers as a flat list of names and values, key, payload; null
where null. What is not UTF-8 is in key_base64, payload_base64 or
headers_base64 instead.

Where the log is damaged the place goes to stderr, the records behind it are
read, and the exit code is 1. That nobody reads the output any more is no
fault. ^C ends --follow with exit code 0.`

type readFlags struct {
	start     startFlags
	count     int64
	partition string
	follow    bool
	format    choice
	isolation choice
	keySep    string
}

func newRead() *cobra.Command {
	f := readFlags{
		format:    choice{"value", []string{"value", "json", "kv"}},
		isolation: choice{"read_uncommitted", []string{"read_uncommitted", "read_committed"}},
	}
	cmd := &cobra.Command{
		Use:     "read DIR",
		Short:   "Print records",
		Long:    readHelp,
		Example: "  seglog read d --last 10 --format kv\n  seglog read d --at -15m --follow\n  seglog read d --from 368801 --count 1 --format json",
		Args:    cobra.ExactArgs(1),
		RunE:    runs(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }),
	}
	f.start.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.partition, "partition", "", "of a broker's log directory, the partition to read, like topic-0")
	flags.Int64Var(&f.count, "count", 0, "stop after this many records")
	flags.BoolVarP(&f.follow, "follow", "f", false, "wait for more at the end")
	flags.Var(&f.format, "format", "how a record is printed")
	flags.Var(&f.isolation, "isolation", "read_committed ends before the first undecided transaction and passes over aborted ones")
	flags.StringVar(&f.keySep, "key-sep", `\t`, "what is between key and value in format kv")
	return cmd
}

func (f *readFlags) run(cmd *cobra.Command, dir string) (err error) {
	sep, err := parseSeparator(f.keySep)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("count") && f.count < 1 {
		return usagef("--count wants 1 or more records")
	}
	if err := f.start.check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	if dir, err = onePartition(dir, f.partition); err != nil {
		return err
	}
	l, err := openLog(ctx, dir, log.Options{Mode: log.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	level := log.UpToEnd
	if f.isolation.value == "read_committed" {
		level = log.ReadCommitted
	}
	in := readable{l.Isolated(level), l.First()}
	from, err := f.start.place(ctx, in)
	if err != nil {
		return err
	}
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	p := &printer{appendRecord: formatter(f.format.value, sep), skip: from.skip, count: f.count, damage: stderr}
	if f.follow {
		return p.follow(ctx, in, dir, from.offset, stdout)
	}
	p.out = newOutput(stdout)
	var shown *progress
	if _, ok := regularSize(stdout); ok { // a pager or a terminal would be written into
		shown = newProgress(stderr, "reading", records, in.End()-from.offset)
	}
	err = p.print(untilDone(ctx, in.From(from.offset), func(next int64) { shown.set(next - from.offset) }))
	shown.end()
	return errors.Join(err, p.out.flush(), p.damageError(dir))
}

// untilDone ends a walk when ctx does, and tells reached now and then, if that
// is not nil, of the offset it has come to.
func untilDone(ctx context.Context, records iter.Seq2[record.Record, error], reached func(offset int64)) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		n := 0
		for r, err := range records {
			if n++; n%1024 == 0 {
				if ctx.Err() != nil {
					yield(record.Record{}, context.Cause(ctx))
					return
				}
				if reached != nil {
					reached(r.Offset)
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// printer prints records until it has printed enough of them.
type printer struct {
	appendRecord func(dst []byte, r *record.Record) []byte
	out          recordWriter
	skip         int64 // records still to be passed over
	count        int64 // records still to be printed, 0 for all there are
	damage       io.Writer
	damaged      int // places
}

// recordWriter takes the bytes of one record. They are its own only meanwhile.
type recordWriter interface {
	buffer() []byte // to append a record to
	wrote(buf []byte) error
	flush() error
}

func (p *printer) print(records iter.Seq2[record.Record, error]) error {
	for r, err := range records {
		var damage *log.DamageError
		if errors.As(err, &damage) {
			p.damaged++
			if err := p.out.flush(); err != nil {
				return err
			}
			fmt.Fprintf(p.damage, "seglog: damaged: %s\n", whereDamaged(damage))
			continue
		}
		if err != nil {
			return errors.Join(p.out.flush(), err)
		}
		if p.skip > 0 {
			p.skip--
			continue
		}
		if err := p.out.wrote(p.appendRecord(p.out.buffer(), &r)); err != nil {
			return err
		}
		if p.count > 0 {
			if p.count--; p.count == 0 {
				return nil
			}
		}
	}
	return nil
}

// damageError is how a walk ends that met damage.
func (p *printer) damageError(dir string) error {
	if p.damaged == 0 {
		return nil
	}
	return fmt.Errorf("what is damaged was passed over, in %s; seglog verify %s lists every fault, a copy or a replica may have those records", plural(int64(p.damaged), "place"), dir)
}
