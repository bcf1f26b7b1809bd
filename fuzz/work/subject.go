// Package work is what is done to a log whose process, or machine, is going to be
// stopped at some moment: it opens the log, says what it holds, and then appends,
// drops and compacts, and says what was acknowledged. Package said judges that.
package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// ctx is never done.
var ctx = context.Background()

// Names are the workloads.
func Names() []string { return slices.Sorted(maps.Keys(workloads)) }

// Keyed says that a workload's log is compacted.
func Keyed(workload string) bool {
	w := workloads[workload]
	return w != nil && w.keyed
}

// Subject is a log and what is done to it.
type Subject struct {
	Workload string
	Dir      string
	Boot     int   // number of this run
	Known    int64 // who listens knows the records below it: a digest will do
	FS       vfs.FS
	Rand     *rand.Rand
	Say      func(line string) // returns when the line was heard, or is sure to be

	w    *workload
	opts log.Options
	l    *log.Log
}

// Run works until it is stopped, or something fails.
func (d *Subject) Run() error {
	d.w = workloads[d.Workload]
	if d.w == nil {
		return fmt.Errorf("work: there is no workload %q, want one of %v", d.Workload, Names())
	}
	d.opts = d.w.options(d.Rand)
	d.opts.Env.FS = d.FS
	d.say("opening")
	if err := d.open(); err != nil {
		return err
	}
	if err := d.report(); err != nil {
		return err
	}
	d.say("ready")
	return d.w.run(d)
}

func (d *Subject) say(format string, args ...any) {
	d.Say(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", `\n`))
}

func (d *Subject) open() (err error) {
	if d.l, err = log.Open(ctx, d.Dir, d.opts); err != nil {
		return err
	}
	for _, a := range d.l.Recovery().Actions {
		d.say("n recovery: %v", a)
	}
	return nil
}

// report says what the log holds:
//
//	open <first> <end> <clean>
//	h <below> <digest>                            of the records below
//	r <offset> <writer> <batch> <index> <count>   each of the others
func (d *Subject) report() error {
	l := d.l
	d.say("open %d %d %t", l.First(), l.End(), l.Recovery().Clean)
	below := min(d.Known, l.End())
	digest := said.NewDigest()
	digested := false
	sum := func() {
		if !digested {
			d.say("h %d %x", below, digest.Sum())
			digested = true
		}
	}
	for rec, err := range l.From(l.First()) {
		if err != nil {
			return fmt.Errorf("reading: %w", err)
		}
		id, err := said.Parse(rec.Value)
		if err != nil {
			return fmt.Errorf("offset %d: %w", rec.Offset, err)
		}
		if d.w.keyed && string(rec.Key) != string(said.Key(id)) {
			return fmt.Errorf("offset %d has key %q and the value of record %v", rec.Offset, rec.Key, id)
		}
		if rec.Offset < below {
			digest.Add(rec.Offset, id)
			continue
		}
		sum()
		d.say("r %d %v", rec.Offset, id)
	}
	sum()
	if d.Rand.IntN(4) == 0 {
		return d.verify()
	}
	return nil
}

// verify looks at all files, read-only, beside the open log.
func (d *Subject) verify() error {
	v, err := log.Verify(ctx, d.Dir, log.Options{}, nil)
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	if err := errors.Join(v.Faults...); err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	return nil
}
