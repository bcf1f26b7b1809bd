//go:build invariants

package invariants

import "fmt"

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
