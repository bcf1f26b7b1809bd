package vfs

import (
	"io"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// Faulty passes calls on to another file system, fails those its rules name,
// and counts all. A call that fails by a rule does not reach the other file
// system, except as Rule.Short says, and that Close and Unmap give back what
// they are of all the same: neither can be called again.
//
// The fields are set before first use.
type Faulty struct {
	// Trace, if set, is called before each call takes effect, with no lock
	// held: to print it, or to Crash the Mem below at exactly this point.
	Trace func(Call)
	// WindowsSharing makes Remove of and Rename from or to a file that is
	// open or mapped fail with ErrSharing, and Truncate below a mapping.
	WindowsSharing bool

	below FS
	calls [len(opNames)]atomic.Int64 // by bit of Op

	mu struct {
		sync.Mutex
		rules []*Injected
		uses  map[string]use // by cleaned path
	}
}

// NewFaulty is below without rules.
func NewFaulty(below FS) *Faulty {
	f := &Faulty{below: below}
	f.mu.uses = map[string]use{}
	return f
}

// Add puts a rule to work. Of several that fail a call the oldest answers.
func (f *Faulty) Add(r Rule) *Injected {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := &Injected{rule: r}
	f.mu.rules = append(f.mu.rules, i)
	return i
}

// Clear ends all rules.
func (f *Faulty) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.rules = nil
}

// Calls is how many calls of these operations there were, failed ones too.
func (f *Faulty) Calls(ops Op) int {
	total := int64(0)
	for i := range f.calls {
		if ops&(1<<i) != 0 {
			total += f.calls[i].Load()
		}
	}
	return int(total)
}

// enter counts a call and finds what makes it fail: the injected error, and
// the rule's Short.
func (f *Faulty) enter(c Call) (short int, err error) {
	f.calls[bits.TrailingZeros32(uint32(c.Op))].Add(1)
	short, c.Err = f.match(c)
	if f.Trace != nil {
		f.Trace(c)
	}
	return short, c.Err
}

func (f *Faulty) match(c Call) (short int, err error) {
	f.mu.Lock()
	rules := slices.Clone(f.mu.rules)
	f.mu.Unlock()
	for _, i := range rules {
		if i.decide(c) && err == nil {
			short, err = i.rule.Short, i.rule.Err
		}
	}
	if err == nil {
		return 0, nil
	}
	switch {
	case err == io.EOF && c.Op == OpReadAt:
		return short, io.EOF // as it comes from a file that ends there
	case c.Op == OpRename:
		return 0, &os.LinkError{Op: "rename", Old: c.Name, New: c.NewName, Err: err}
	}
	return short, &fs.PathError{Op: c.Op.String(), Path: c.Name, Err: err}
}
