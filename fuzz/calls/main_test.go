package calls

import (
	"cmp"
	"flag"
	"maps"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

var (
	all      = flag.Bool("all", false, "fail every call of every operation with every error")
	seed     = flag.Uint64("seed", 1, "of the sample; 0 is a new one")
	onlyCall = flag.Int("call", -1, "fail that call only")
	onlyErr  = flag.String("error", "", "fail with that error only")
	onlyMode = flag.String("mode", "", "let the failure go on so only: once, twice or stays")
	within   = flag.Duration("within", 0, "with -all: as many as there is time for, any of every operation's")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
