package power

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/seglog/seglog/internal/vfs"
)

// ctx is never done.
var ctx = context.Background()

// machine is one machine with a log on it, or several, run by a plan.
type machine struct {
	plan  Plan
	unit  int64      // of the device
	r     *rand.Rand // of the step that is being taken
	now   time.Time
	stats *Stats

	mem *vfs.Mem
	fs  vfs.FS // what the logs see of mem

	*part         // that the present operation is about
	parts []*part // all that there are
	many          // nothing, unless there may be several

	fuse   fuse
	back   writeback
	events int      // in the present operation
	where  string   // it is
	image  *vfs.Mem // what is left, once the machine was stopped
	power  bool     // by a power cut

	sent int // records made, which numbers them

	verbose bool
	did     []string
	before  *vfs.Mem // verbose: the machine just before it was stopped
}

// fly is what an operation that was interrupted may have done.
type fly struct {
	batch   *batch // appended
	first   int64  // DropBefore, DropAll: the log start it makes
	all     bool   // DropAll
	cutting bool   // DropFrom
	cut     int64  // the end it makes
	sureCut int64  // or, where compaction took batches, down to here
	cleans  int64  // compaction: below this offset; 0 is none
}

// Failure is what was wrong, and how it came to it.
type Failure struct {
	Plan  Plan
	What  string
	Did   []string // in a verbose run
	Stack string   // of a panic of the engine
}

func (f *Failure) Error() string { return f.What }

// failf ends the run.
func (x *machine) failf(format string, args ...any) {
	panic(&Failure{Plan: x.plan, What: fmt.Sprintf(format, args...), Did: x.did})
}

func (x *machine) must(err error, what string) {
	if err != nil {
		x.failf("%s: %v", what, err)
	}
}

func (x *machine) note(format string, args ...any) {
	if x.verbose {
		x.did = append(x.did, deletedID.ReplaceAllString(fmt.Sprintf(format, args...), ""))
	}
}

// deletedID is what a deleted partition's directory is called by chance.
var deletedID = regexp.MustCompile(`\.[0-9a-f]{32}\b`)

// Run carries a plan out; nil is well.
func Run(p Plan, stats *Stats, verbose bool) *Failure {
	return runMachine(&machine{plan: p, stats: stats, verbose: verbose})
}

func runMachine(x *machine) (failure *Failure) {
	x.now, x.gone = time.UnixMilli(1_700_000_000_000), map[string]bool{}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *Failure:
			failure = v
		default:
			failure = &Failure{Plan: x.plan, What: fmt.Sprintf("panic: %v", v), Did: x.did, Stack: string(debug.Stack())}
		}
	}()
	x.stats.Runs++
	x.run()
	return nil
}

func (x *machine) run() {
	if x.plan.Workload == OneLog {
		x.part = x.newPart("topic-0", x.plan.stream(settingsStream))
		x.dir, x.unit, x.parts = filepath.Join(root, x.name), x.set.unit, []*part{x.part}
	} else {
		x.unit = anyUnit(x.plan.stream(settingsStream))
	}
	x.begin()
	for _, s := range x.plan.Steps {
		x.step(s)
	}
	x.r, x.where = x.plan.stream(closeStream), "close"
	x.close()
	x.open()
	x.each(x.check)
}

// begin opens new directories, where nothing is yet. It goes with step 0: without
// that the machine is not stopped here.
func (x *machine) begin() {
	x.fs = x.wrap(vfs.NewMem())
	x.r, x.where = x.plan.stream(beginStream), "begin"
	first := Step{NoCut: true}
	if len(x.plan.Steps) > 0 && x.plan.Steps[0].Number == 0 {
		first = x.plan.Steps[0]
	}
	stop, f := x.light(8 + 12*x.r.IntN(2)) // the directories are made first
	f.power = x.r.IntN(2) == 0
	if stop && !first.NoCut {
		x.fuse = f
	} else {
		x.back = writeback{}
	}
	err := x.start()
	if x.image != nil {
		x.restart(!first.NoNest)
		return
	}
	x.must(err, "Open of a new directory")
	x.stats.took("begin", x.events)
	x.fuse, x.back = fuse{}, writeback{}
}

func (x *machine) clock() time.Time { return x.now }

// wrap makes mem the machine's, and returns it as the log is to see it.
func (x *machine) wrap(mem *vfs.Mem) vfs.FS {
	mem.Now, mem.Unit, mem.OnStore = x.clock, x.unit, x.store
	x.mem = mem
	f := vfs.NewFaulty(sickly{x.plan.Lie.over(mem), x})
	f.Trace = x.call
	return f
}

// step does one thing, and may stop the machine in the middle of it.
func (x *machine) step(s Step) {
	x.stats.Steps++
	x.r = x.plan.stream(uint64(s.Number))
	x.now = x.now.Add(time.Duration(x.r.IntN(40)-8) * 700 * time.Millisecond) // back now and then
	op := x.choose(s)
	x.where, x.events, x.fresh = op.name, 0, false
	x.landed()
	x.note("step %d: %s at %d%s", s.Number, op.name, x.now.UnixMilli(), x.part.state())
	stop, f := x.light(op.events)
	if s.NoCut {
		stop, f = false, fuse{}
	}
	x.fuse = f
	op.do(x)
	if x.image == nil {
		x.stats.took(op.name, x.events)
	}
	if stop || x.halts {
		if x.image == nil {
			x.landed()
		}
		x.stopAtRest()
		x.restart(!s.NoNest)
		return
	}
	x.back = writeback{}
	x.each(x.watermarks)
}

// landed says that no operation is under way.
func (x *machine) landed() {
	x.each(func() { x.fly = fly{} })
	x.making, x.deleting = nil, nil
}

// light decides whether the machine is stopped in an operation of about so many
// events, and where.
func (x *machine) light(events int) (stop bool, f fuse) {
	r := x.r
	stop = r.IntN(3) == 0
	f = fuse{left: 1 + r.IntN(events+events/4+1), power: r.IntN(8) > 0, tear: r.IntN(2) == 0, seed: r.Uint64()}
	x.back = writeback{}
	if w := (writeback{left: 1 + r.IntN(events+1), tear: r.IntN(2) == 0, seed: r.Uint64()}); r.IntN(4) == 0 {
		x.back = w
	}
	if !stop {
		f = fuse{}
	}
	return stop, f
}

// restart opens what is left, as often as that is interrupted itself, and holds
// the logs to what must be there.
func (x *machine) restart(nest bool) {
	x.each(func() { x.held = nil }) // gone with the process
	x.halts, x.sick = false, ""
	killed := true
	for {
		killed = killed && !x.power
		x.fs, x.image = x.wrap(x.image), nil
		x.fuse, x.back = fuse{}, writeback{}
		stop, f := x.light(25 * max(len(x.parts), 1))
		x.where, x.events = "open", 0
		if nest && stop {
			x.fuse = f
		} else {
			x.back = writeback{}
		}
		x.each(func() { x.left = x.logFiles() })
		err := x.start()
		if x.image != nil {
			continue
		}
		x.stats.took("open", x.events)
		if err != nil {
			x.failf("Open after a crash: %v", err)
		}
		x.fuse, x.back = fuse{}, writeback{}
		x.takeStock()
		x.each(func() {
			l := x.l
			if len(l.Recovery().Actions) > 0 {
				x.stats.Recovered++
			}
			x.note("  opened%s as [%d, %d), durable %d, recovery point %d: %v", x.called(), l.First(), l.End(), l.Durable(), l.Recovery().RecoveryPoint, l.Recovery().Actions)
			x.keptAside(x.left)
		})
		break
	}
	x.each(func() {
		x.reconcile(killed)
		x.check()
	})
	x.files()
	x.again()
	x.each(func() { x.append(x.r.IntN(2) == 0) })
	x.each(x.watermarks)
}
