//go:build invariants

package invariants

import (
	"fmt"
	"sync/atomic"
)

// Enabled says whether this build checks.
const Enabled = true

// PoisonByte is what Poison writes: neither zero, nor ASCII, nor a plausible
// length or offset.
const PoisonByte = 0xDB

// Check panics with the message when cond is false.
func Check(cond bool, format string, args ...any) {
	if !cond {
		panic("invariant violated: " + fmt.Sprintf(format, args...))
	}
}

// Poison overwrites memory that was given back, so that whoever still reads it
// sees at once that it is not theirs.
func Poison(b []byte) {
	for i := range b {
		b[i] = PoisonByte
	}
}

var paused atomic.Pointer[func(string)]

// Pause is a place between two steps where another goroutine coming in matters.
// It calls what OnPause was given, which may take its time there but must not
// call what called it: locks may be held.
func Pause(where string) {
	if f := paused.Load(); f != nil {
		(*f)(where)
	}
}

// OnPause sets what Pause calls, nil for nothing.
func OnPause(f func(where string)) {
	if f == nil {
		paused.Store(nil)
		return
	}
	paused.Store(&f)
}
