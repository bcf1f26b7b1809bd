package calls

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// run is one operation of which calls fail.
type run struct {
	s    *scenario
	d    *dry
	w    *world
	nth  int      // the first call that fails
	call vfs.Call // and what it is
	f    fault
	mode string // how the failure goes on
	way  int    // chooses among the ways on

	failed []failure // the calls that did fail
}

// check does the run and says what was wrong with it, nil for nothing.
func (r *run) check() (problem error) {
	stuck := time.AfterFunc(time.Minute, func() {
		panic(fmt.Sprintf("%s hangs after call %d failed with %s, %s: %s", r.s.name, r.nth, r.f.name, r.mode, describe(r.call)))
	})
	defer stuck.Stop()
	defer func() {
		if v := recover(); v != nil {
			problem = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	r.w = r.s.begin()
	for _, rule := range r.f.rules {
		r.w.fs.Add(rule)
	}
	last := vfs.Call{}
	r.w.trace(func(c vfs.Call) {
		if c.Err != nil {
			f := failure{c, c.Name}
			if c.Op == vfs.OpSyncDir && last.Op == vfs.OpRename {
				f.subject = last.NewName
			}
			r.failed = append(r.failed, f)
		}
		last = c
	})
	result, err := r.s.do(r.w)
	r.w.fs.Clear()
	r.w.fs.Trace = nil
	if len(r.failed) == 0 {
		if err != nil {
			return fmt.Errorf("no call failed, but the operation: %w", err)
		}
		return nil
	}
	if strings.HasPrefix(r.s.name, "verify") && r.failed[0].Op != r.call.Op {
		return nil // segments are looked at side by side, and another call came then
	}
	if problem := r.reported(result, err); problem != nil {
		return problem
	}
	if problem := r.seen(err); problem != nil {
		return problem
	}
	killed, dropped := r.w.mem.Fork(), r.w.mem.Fork()
	cut := killed.Fork().Crash(uint64(r.way))
	durable := r.stillDurable(err)
	if problem := r.goOn(err); problem != nil {
		return fmt.Errorf("the way on (%s): %w", r.wayName(err), problem)
	}
	if problem := r.afterKill(killed); problem != nil {
		return fmt.Errorf("killed and opened again: %w", problem)
	}
	if problem := r.afterLoss(cut, durable); problem != nil {
		return fmt.Errorf("the power was cut: %w", problem)
	}
	for _, c := range r.failed {
		if c.Op != vfs.OpSync {
			continue
		}
		if dropErr := dropped.DropDirty(c.Name, uint64(r.way%4)); dropErr != nil {
			continue // it was removed since
		}
		if problem := r.afterLoss(dropped, durable); problem != nil {
			return fmt.Errorf("the kernel dropped what it failed to write to %s: %w", c.Name, problem)
		}
	}
	return nil
}

// sentinels are the errors of which one may match, and what a call's failure is
// none of.
var sentinels = []error{log.ErrTrimmed, log.ErrBeyond, log.ErrNoRecord, log.ErrClosed, log.ErrReadOnly, log.ErrLocked,
	log.ErrNoPartition, log.ErrExists, record.ErrCorrupt, record.ErrInvalid, record.ErrTooLarge, record.ErrUnsupportedMagic,
	log.ErrProducerFenced, log.ErrOutOfOrderSequence, log.ErrTransactionState, vfs.ErrFault}

// reported holds the operation's answer against what failed.
func (r *run) reported(result string, err error) error {
	if err == nil {
		if result != r.d.result {
			return fmt.Errorf("it succeeds with %q, want %q", result, r.d.result)
		}
		for _, c := range r.failed {
			if !absorbable(r.s, c) {
				return fmt.Errorf("%s failed, and the operation says nothing", describe(c.Call))
			}
		}
		return nil
	}
	if !r.f.reports(err) {
		return fmt.Errorf("it fails, but not with %v: %w", r.f.want, err)
	}
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return fmt.Errorf("a failed call is called %q: %w", s, err)
		}
	}
	if errors.Is(err, log.ErrFailed) && !slices.ContainsFunc(r.failed, func(f failure) bool { return final(r.s, f) }) {
		return fmt.Errorf("%s is final: %w", describe(r.failed[0].Call), err)
	}
	if !strings.HasPrefix(r.d.result, result) {
		return fmt.Errorf("it fails after %q, want a part of %q", result, r.d.result)
	}
	return nil
}

// seen holds what is seen on the handle against before and after.
func (r *run) seen(err error) error {
	if r.s.closes || r.w.log == nil && r.w.man == nil {
		if r.w.log == nil && r.w.man == nil {
			if left := r.w.fs.InUse(); len(left) > 0 && r.w.beside == nil {
				return fmt.Errorf("nothing is open, but there is left: %q", left)
			}
		}
		return nil
	}
	if r.s.stale && err != nil {
		return nil
	}
	got, parts, lookErr := r.w.picture()
	if errors.Is(lookErr, log.ErrFailed) && errors.Is(err, log.ErrFailed) && strings.Contains(r.s.name, "compact") {
		return nil // the segments whose files were being exchanged answer so
	}
	if lookErr != nil {
		return fmt.Errorf("looking at it after %v: %w", err, lookErr)
	}
	if err == nil {
		if parts != r.d.partsA {
			return fmt.Errorf("it succeeds and the partitions are\n%s\nwant\n%s", parts, r.d.partsA)
		}
		return r.oneOf(got, r.d.after)
	}
	if r.s.opens { // a Manager sets the log aside that it could not open
		for name, v := range got {
			if v.String() != r.d.after[name].String() {
				return fmt.Errorf("after %v %s is\n%v\nwant\n%v", err, name, v, r.d.after[name])
			}
		}
		return nil
	}
	return r.oneOf(got, r.d.before, r.d.after)
}

// oneOf says whether what is seen is one of those.
func (r *run) oneOf(got picture, want ...picture) error {
	for _, p := range want {
		if got.String() == p.String() {
			return nil
		}
	}
	if len(want) > 1 && (r.mixed(got, want) || r.madeRoom(got, want)) {
		return nil
	}
	return fmt.Errorf("what is seen is\n%v\nwant one of\n%v", got, want)
}

// mixed says whether each log is as it was before, after, or where an operation
// is several between the two.
func (r *run) mixed(got picture, want []picture) bool {
	for name, v := range got {
		ok := slices.ContainsFunc(want, func(p picture) bool {
			w, has := p[name]
			return has && w.String() == v.String()
		})
		if !ok && r.s.some {
			ok = between(v, want[0][name], want[1][name])
		}
		if !ok {
			return false
		}
	}
	return r.s.some || r.s.manager
}

// madeRoom says whether segments were dropped on a disk that is full and stays so:
// then the log may begin where they ended.
func (r *run) madeRoom(got picture, want []picture) bool {
	if !vfs.IsFull(r.f.err) || r.mode == "once" || !strings.Contains(r.s.name, "drop before") && !strings.Contains(r.s.name, "retain") {
		return false
	}
	for name, v := range got {
		before, after := want[0][name], want[1][name]
		left := slices.DeleteFunc(slices.Clone(before.Records), func(rec seen) bool { return rec.Offset < v.First })
		if v.First < before.First || v.First > after.First || v.End != after.End || !slices.Equal(v.Records, left) {
			return false
		}
	}
	return true
}

// between says whether v has all of the records of after, some of those that
// only before has, and is alike otherwise.
func between(v, before, after view) bool {
	for _, rec := range after.Records {
		if !slices.Contains(v.Records, rec) {
			return false
		}
	}
	for _, rec := range v.Records {
		if !slices.Contains(before.Records, rec) {
			return false
		}
	}
	for _, x := range []*view{&v, &before, &after} {
		x.Records, x.Committed, x.Aborted = nil, nil, nil
	}
	return v.String() == before.String() || v.String() == after.String()
}

// stillDurable is what must survive a power cut now.
func (r *run) stillDurable(err error) map[string]int64 {
	d := make(map[string]int64)
	for name, was := range r.d.durable {
		d[name] = was
		if after, ok := r.d.killedAfter[name]; ok && after.End < was {
			d[name] = after.End // it was cut
		}
	}
	if err == nil && !r.s.closes {
		for name, now := range r.w.durable() {
			d[name] = now
		}
	}
	return d
}

func (r *run) wayName(err error) string {
	switch {
	case err == nil:
		return "nothing to do again"
	case errors.Is(err, log.ErrFailed):
		return "ErrFailed: open again"
	case r.w.log == nil && r.w.man == nil:
		return "open again"
	case r.way%2 == 0:
		return "close and open"
	}
	return "again on the same handle"
}

// goOn takes the documented way on, to the end.
func (r *run) goOn(err error) error {
	w := r.w
	open := w.log != nil || w.man != nil
	switch {
	case errors.Is(err, log.ErrFailed) && open:
		if problem := r.refuses(); problem != nil {
			return problem
		}
		if err := w.close(); err != nil && !errors.Is(err, log.ErrFailed) {
			return fmt.Errorf("closing what failed: %w", err)
		}
		return r.thenOpen(w)
	case r.s.closes, !open, err != nil && r.way%2 == 0 && !r.s.opens:
		if err := w.close(); err != nil {
			return fmt.Errorf("closing: %w", err)
		}
		return r.thenOpen(w)
	case err != nil:
		again := r.s.again
		if again == nil {
			again = r.s.do
		}
		result, err := again(w)
		if err != nil {
			return err
		}
		if result != r.d.result && !r.s.opens {
			return fmt.Errorf("it returns %q, want %q", result, r.d.result)
		}
		got, parts, err := w.picture()
		if err != nil {
			return err
		}
		if problem := r.oneOf(got, r.d.after); problem != nil {
			return problem
		}
		if parts != r.d.partsA {
			return fmt.Errorf("the partitions are\n%s\nwant\n%s", parts, r.d.partsA)
		}
	}
	// What could not be removed, or not durably, is left to the next open; and an
	// index that could neither be read nor written.
	m, problem := r.s.finish(w, r.mode != "once" || slices.ContainsFunc(r.failed, func(f failure) bool { return f.Op&(vfs.OpRemove|vfs.OpSyncDir) != 0 }))
	if problem != nil {
		return problem
	}
	return r.sameFiles(m)
}

// thenOpen opens again in the same process: nothing is locked.
func (r *run) thenOpen(w *world) error {
	if left := w.fs.InUse(); len(left) > 0 {
		return fmt.Errorf("after Close there is left: %q", left)
	}
	return r.afterKill(w.mem)
}

// refuses says whether a log that failed takes no more.
func (r *run) refuses() error {
	for _, l := range r.w.logs() {
		if r.w.man != nil && !errors.Is(l.Sync(ctx), log.ErrFailed) {
			continue // another one
		}
		for name, do := range refused {
			if err := do(l); !errors.Is(err, log.ErrFailed) || !r.f.reports(err) {
				return fmt.Errorf("it failed, and %s answers %v", name, err)
			}
		}
	}
	return nil
}

// afterKill opens what a process left that was killed: all is as before or after.
func (r *run) afterKill(m *vfs.Mem) error {
	w, err := r.s.reopen(m)
	if err != nil {
		return err
	}
	got, _, err := w.picture()
	if err != nil {
		return err
	}
	want := []picture{r.d.killedBefore, r.d.killedAfter}
	if r.d.after != nil { // what was seen before the process ended is as good
		want = append(want, r.d.after)
	}
	if problem := r.oneOf(got, want...); problem != nil {
		return problem
	}
	_, problem := r.s.finish(w, false)
	return problem
}

// afterLoss opens what a power cut left, or a kernel that dropped pages: all
// that was durable is there.
func (r *run) afterLoss(m *vfs.Mem, durable map[string]int64) error {
	w, err := r.s.reopen(m)
	repaired := errors.Is(err, record.ErrCorrupt)
	if repaired {
		// The machine ran on, so what is not whole is damage, which Repair cuts out.
		repairing := *r.s
		repairing.opts = func(o *log.Options) {
			*o = r.s.options()
			o.Mode = log.Repair
		}
		w, err = repairing.reopen(m)
	}
	if err != nil {
		return err
	}
	got, _, err := w.picture()
	if err != nil {
		return err
	}
	for name, end := range durable {
		v, ok := got[name]
		if !ok {
			if _, stays := r.d.killedAfter[name]; !stays {
				continue // it was deleted
			}
			return fmt.Errorf("%s is not there", name)
		}
		if v.End < end {
			return fmt.Errorf("%s ends at %d, and was durable up to %d", name, v.End, end)
		}
		before, after := r.d.killedBefore[name], r.d.killedAfter[name]
		if !v.within(before, after) && !(repaired && v.holds(end, before, after)) && !(r.s.some && between(v.readable(), before.readable(), after.readable())) {
			return fmt.Errorf("%s is\n%v\nwant a part of\n%v\nor of\n%v", name, v, before, after)
		}
	}
	_, problem := r.s.finish(w, false)
	return problem
}

// holds says whether v has every record below end that one of the others has, and
// none that it has not.
func (v view) holds(end int64, others ...view) bool {
	return slices.ContainsFunc(others, func(o view) bool {
		for _, rec := range o.Records {
			if rec.Offset >= v.First && rec.Offset < end && !slices.Contains(v.Records, rec) {
				return false
			}
		}
		return !slices.ContainsFunc(v.Records, func(rec seen) bool { return !slices.Contains(o.Records, rec) })
	})
}

// readable is a view of records alone.
func (v view) readable() view { return view{Records: v.Records} }

// sameFiles holds the directory in the end against that of a run without a
// fault: what was put off was done.
func (r *run) sameFiles(m *vfs.Mem) error {
	got, want := tidy(files(m, "/")), tidy(r.d.files)
	if slices.Equal(got, want) {
		return nil
	}
	if r.s.some { // done in parts, it need not come to the same
		got = slices.DeleteFunc(got, func(name string) bool {
			return !slices.ContainsFunc([]string{".cleaned", ".swap", ".deleted", ".tmp"}, func(s string) bool { return strings.HasSuffix(name, s) })
		})
		if len(got) > 0 {
			return fmt.Errorf("there is left %q", got)
		}
		return nil
	}
	var b strings.Builder
	for _, f := range got {
		if !slices.Contains(want, f) {
			fmt.Fprintf(&b, "there is %s\n", f)
		}
	}
	for _, f := range want {
		if !slices.Contains(got, f) {
			fmt.Fprintf(&b, "missing %s\n", f)
		}
	}
	return fmt.Errorf("the files are others than without the fault:\n%s", b.String())
}

// tidy leaves out what may differ.
func tidy(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool {
		base, _, _ := strings.Cut(filepath.Base(name), " ")
		return strings.HasPrefix(base, "seglog.torn-") || strings.HasPrefix(base, "seglog.damaged-")
	})
}
