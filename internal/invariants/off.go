//go:build !invariants

package invariants

// Enabled says whether this build checks.
const Enabled = false

// PoisonByte is what Poison writes in a build that checks.
const PoisonByte = 0xDB

// Check does nothing in this build. Its arguments are still evaluated: guard
// costly ones with Enabled.
func Check(bool, string, ...any) {}

// Poison does nothing in this build.
func Poison([]byte) {}

// Pause does nothing in this build.
func Pause(string) {}

// OnPause does nothing in this build.
func OnPause(func(string)) {}
