package power

import (
	"fmt"
	"path/filepath"

	"github.com/seglog/seglog/internal/vfs"
)

// Place is where within an operation a machine was stopped.
type Place int

const (
	AtRest        Place = iota // between two operations
	BeforeCall                 // of a call that creates, renames, removes, cuts or allocates
	InSync                     // of a file: any part of it is done
	InDirSync                  // of a directory
	BetweenStores              // into a mapping
	WithinStore                // into a mapping
	BetweenWrites
	WithinWrite
	Places
)

var placeNames = [...]string{"at rest", "before a call", "in a sync", "in a dir sync", "between stores", "within a store", "between writes", "within a write"}

func (p Place) String() string { return placeNames[p] }

// fuse stops the machine at one of the events of an operation: the calls that
// change what is stored, and the stores.
type fuse struct {
	left  int  // events until it burns; 0 is never
	power bool // or the process alone is killed
	tear  bool // within the store, if it is one
	seed  uint64
}

// writeback is the kernel writing some of what is dirty at one of the events.
type writeback struct {
	left int
	tear bool
	seed uint64
}

// call is told of every call to the file system before it takes effect.
func (x *machine) call(c vfs.Call) {
	switch {
	case c.Op&vfs.ChangeOp == 0 || c.Op == vfs.OpWriteAt || c.Op == vfs.OpSetModTime: // writes are events of their own
		return
	case c.Op == vfs.OpSync:
		x.event(InSync, nil, c)
	case c.Op == vfs.OpSyncDir:
		x.event(InDirSync, nil, c)
	default:
		x.event(BeforeCall, nil, c)
	}
}

// store is told of every store and write before it is made.
func (x *machine) store(s vfs.Store) {
	place := BetweenWrites
	if s.Mapped() {
		place = BetweenStores
	}
	x.event(place, &s, vfs.Call{Name: s.Name, Off: s.At, Len: int64(len(s.Bytes))})
}

func (x *machine) event(place Place, s *vfs.Store, c vfs.Call) {
	if x.image != nil {
		return // the machine is off; what runs on reaches nothing
	}
	x.events++
	if w := &x.back; w.left > 0 {
		if w.left--; w.left == 0 {
			torn := s != nil && w.tear && s.Tear(w.seed)
			x.note("  at event %d (%s) the kernel writes back %d, a store torn %t", x.events, describe(place, c), w.seed, torn)
			x.mem.Writeback(w.seed)
		}
	}
	if f := &x.fuse; f.left > 0 {
		if f.left--; f.left == 0 {
			if s != nil && f.tear && s.Tear(f.seed) {
				place++ // within it
			}
			x.stop(place, describe(place, c))
		}
	}
}

func describe(p Place, c vfs.Call) string {
	name := filepath.Base(c.Name)
	switch p {
	case BeforeCall:
		return fmt.Sprintf("before %s %s", c.Op, name)
	case InSync, InDirSync, AtRest:
		return fmt.Sprintf("%s %s", p, name)
	}
	return fmt.Sprintf("%s %s at %d, %d bytes", p, name, c.Off, c.Len)
}

// stop ends the machine, or the process, and keeps what is left of it.
func (x *machine) stop(place Place, what string) {
	if err := x.mem.Untold(); err != nil {
		x.failf("%v", err)
	}
	f := x.fuse
	x.fuse, x.back = fuse{}, writeback{}
	if x.verbose {
		x.before = x.mem.Fork()
	}
	how := "kill"
	if f.power {
		how, x.image = "power cut", x.mem.Crash(f.seed)
	} else {
		x.image = x.mem.Kill()
	}
	x.power = f.power
	x.stats.count(x.where, place, f.power)
	x.note("  %s (seed %d) at event %d of %s: %s", how, f.seed, x.events, x.where, what)
	if f.power {
		x.noteLost()
	}
}

// stopAtRest is stop where an operation came to its end.
func (x *machine) stopAtRest() {
	if x.image == nil {
		x.stop(AtRest, "after it")
	}
}
