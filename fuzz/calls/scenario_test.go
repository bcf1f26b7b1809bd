package calls

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
)

// scenario is one public operation, on one state.
type scenario struct {
	name  string
	state state
	opts  func(*log.Options) // changes small
	// ready opens what the operation is done on; nil opens the log.
	ready func(w *world)
	// do is the operation. What it returns beside an error is held against what
	// it returned without a fault.
	do func(w *world) (result string, err error)
	// again is the documented way on, on the same handle; nil is do.
	again func(w *world) (result string, err error)

	opens   bool // the operation opens; nothing is open before
	closes  bool // nothing is open after it, whatever comes out
	manager bool
	// stale says that what the log shows before cannot be read any more.
	stale bool
	// some says that the operation is several, of which a failure leaves those
	// before it done: then what is seen may be a mixture, record by record.
	some bool
}

func (s *scenario) options() log.Options {
	o := small()
	if s.opts != nil {
		s.opts(&o)
	}
	return o
}

// begin is a fresh world in which the operation is next.
func (s *scenario) begin() *world {
	w := newWorld(s.state(), s.options())
	switch {
	case s.opens:
	case s.ready != nil:
		s.ready(w)
	default:
		must(w.open())
	}
	return w
}

// reopen opens what a process that ended left in m, as a writer.
func (s *scenario) reopen(m *vfs.Mem) (*world, error) {
	o := s.options()
	if o.Mode == log.ReadOnly {
		o.Mode = log.ReadWrite
	}
	w := newWorld(m, o)
	if s.manager {
		return w, w.openAll()
	}
	return w, w.open()
}

// reopenClosed is reopen without a repair, which believes nothing.
func (s *scenario) reopenClosed(m *vfs.Mem) (*world, error) {
	plain := *s
	plain.opts = func(o *log.Options) {
		*o = s.options()
		if o.Mode == log.Repair {
			o.Mode = log.ReadWrite
		}
	}
	return plain.reopen(m)
}

// openAll opens a Manager, and says what kept a log from being opened, too.
func (w *world) openAll() error {
	if err := w.openManager(); err != nil {
		return err
	}
	return w.setAside()
}

func (w *world) setAside() error {
	for _, p := range w.man.Partitions() {
		if p.Err != nil {
			return p.Err
		}
	}
	return nil
}

// reopenSetAside is the way on after OpenManager.
func (w *world) reopenSetAside() (string, error) {
	if w.man == nil {
		return "", w.openAll()
	}
	for _, p := range w.man.Partitions() {
		if p.Err != nil {
			if _, err := w.man.Reopen(ctx, p.Name); err != nil {
				return "", err
			}
		}
	}
	return "", w.setAside()
}

// logs are the open logs of a world.
func (w *world) logs() []*log.Log {
	if w.man == nil {
		return []*log.Log{w.log}
	}
	var list []*log.Log
	for _, l := range w.man.Logs() {
		list = append(list, l)
	}
	return list
}

// dry is what an operation does without a fault.
type dry struct {
	calls  []vfs.Call // in order
	result string
	// What is seen on the handle before and after.
	before, after       picture
	partsBefore, partsA string
	// What is seen when the process was killed and another one opens.
	killedBefore, killedAfter picture
	durable                   map[string]int64 // before
	files                     []string         // in the end, once finished
}

func (s *scenario) dryRun() (d dry, err error) {
	w := s.begin()
	if !s.opens && !s.stale {
		if d.before, d.partsBefore, err = w.picture(); err != nil {
			return d, err
		}
		w = s.begin() // the look has mapped what is cold
	}
	d.durable = w.durable()
	if d.killedBefore, err = s.pictureOf(w.mem.Fork()); err != nil {
		return d, fmt.Errorf("killed before: %w", err)
	}
	w.trace(func(c vfs.Call) { d.calls = append(d.calls, c) })
	d.result, err = s.do(w)
	if err != nil {
		return d, err
	}
	w.fs.Trace = nil
	if d.killedAfter, err = s.pictureOf(w.mem.Fork()); err != nil {
		return d, fmt.Errorf("killed after: %w", err)
	}
	if !s.closes {
		if d.after, d.partsA, err = w.picture(); err != nil {
			return d, err
		}
	}
	m, problem := s.finish(w, false)
	if problem != nil {
		return d, problem
	}
	d.files = files(m, "/")
	return d, nil
}

// pictureOf is what is seen of what a killed process left.
func (s *scenario) pictureOf(m *vfs.Mem) (picture, error) {
	w, err := s.reopen(m)
	if err != nil {
		return nil, err
	}
	p, _, err := w.picture()
	if err == nil {
		err = w.close()
	}
	return p, err
}

// durable is what each log calls durable.
func (w *world) durable() map[string]int64 {
	d := make(map[string]int64)
	if w.log == nil && w.man == nil {
		return d
	}
	for _, l := range w.logs() {
		d[filepath.Base(l.Dir())] = l.Durable()
	}
	return d
}

// finish is the end of every run: what is open takes an append and a sync, is
// closed and opened again, twice; the first needs no repair, and all is there.
// It returns the file system that it ends on.
//
// later lets the first of the two do what an open before could not: unlink, or
// derive an index.
func (s *scenario) finish(w *world, later bool) (*vfs.Mem, error) {
	if (w.log != nil || w.man != nil) && w.opts.Mode == log.ReadOnly {
		if err := w.close(); err != nil {
			return nil, fmt.Errorf("closing: %w", err)
		}
	}
	if w.log == nil && w.man == nil {
		again, err := s.reopen(w.mem)
		if err != nil {
			return nil, fmt.Errorf("opening in the end: %w", err)
		}
		w = again
	}
	for _, l := range w.logs() {
		if _, err := l.AppendSync(ctx, rec("last", 1234)); err != nil {
			return nil, fmt.Errorf("appending in the end: %w", err)
		}
	}
	want, _, err := w.picture()
	if err != nil {
		return nil, fmt.Errorf("after the append in the end: %w", err)
	}
	for round := range 2 {
		if err := w.close(); err != nil {
			return nil, fmt.Errorf("closing in the end: %w", err)
		}
		if left := w.fs.InUse(); len(left) > 0 {
			return nil, fmt.Errorf("after Close there is left: %q", left)
		}
		if w, err = s.reopenClosed(w.mem); err != nil {
			return nil, fmt.Errorf("opening again: %w", err)
		}
		for _, l := range w.logs() {
			if r := l.Recovery(); later && round == 0 && onlyLater(r) {
				continue
			} else if !r.Clean || len(r.Actions) > 0 || r.ScannedBatches > 0 {
				return nil, fmt.Errorf("open %d after Close repairs %s: %v", round, l.Dir(), r.LogValue())
			}
		}
		got, _, err := w.picture()
		if err != nil {
			return nil, fmt.Errorf("open %d after Close: %w", round, err)
		}
		if problem := got.reopenedFrom(want, w.opts.Mode); problem != nil {
			return nil, fmt.Errorf("open %d after Close: %w", round, problem)
		}
	}
	var dirs []string
	for _, l := range w.logs() {
		dirs = append(dirs, l.Dir())
	}
	if err := w.close(); err != nil {
		return nil, fmt.Errorf("closing at last: %w", err)
	}
	for _, d := range dirs {
		v, err := log.Verify(ctx, d, w.opts, nil)
		if err != nil || len(v.Faults) > 0 || len(v.Notes) > 0 {
			return nil, fmt.Errorf("Verify of %s: %v, faults %v, notes %v", d, err, v.Faults, v.Notes)
		}
	}
	return w.mem, nil
}

// onlyLater says whether all repairs may be put off.
func onlyLater(r *recovery.Report) bool {
	return len(r.Actions) > 0 && !slices.ContainsFunc(r.Actions, func(a recovery.Action) bool {
		return !a.Later && a.Kind != recovery.Remove && a.Kind != recovery.Reindex
	})
}

// reopenedFrom holds what is seen after a clean close against what was before.
func (p picture) reopenedFrom(want picture, mode log.Mode) error {
	if !slices.Equal(sortedKeys(p), sortedKeys(want)) {
		return fmt.Errorf("logs %v, want %v", sortedKeys(p), sortedKeys(want))
	}
	for name, v := range p {
		was := want[name]
		if mode != log.Follower { // it is End again
			was.HighWatermark, was.LastStable = v.HighWatermark, v.LastStable
			was.Committed = v.Committed
		}
		if v.String() != was.String() {
			return fmt.Errorf("%s is\n%v\nwant\n%v", name, v, was)
		}
	}
	return nil
}
