package concurrent

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/retention"
	"github.com/seglog/seglog/retention/compact"
)

var (
	histories = flag.Int("histories", 0, "how many histories TestLinearizable makes of each kind; 0 is a second or two of them")
	seedFlag  = flag.Uint64("seed", 0, "the one seed to make histories of; 0 is -histories of them")
)

// TestLinearizable: whatever many goroutines do to a log at once, each call has
// the result that it has when they are done one after the other, in an order in
// which no call comes before one that had returned when it began.
func TestLinearizable(t *testing.T) {
	for _, p := range profiles {
		for _, where := range []string{"memory", "disk"} {
			t.Run(p.name+"/"+where, func(t *testing.T) {
				for seed := range seeds(t, where) {
					h := history{profile: p, seed: seed, disk: where == "disk"}
					h.check(t, h.make(t, nil))
				}
			})
		}
	}
}

// seeds are those to try.
func seeds(t *testing.T, where string) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		if *seedFlag != 0 {
			yield(*seedFlag)
			return
		}
		n := *histories
		if n == 0 {
			n = map[string]int{"memory": 12, "disk": 3}[where]
		}
		for i := range n {
			if seed := uint64(i) + 1; !t.Failed() && !yield(seed) {
				return
			}
		}
	}
}

// patience is how long one history may take to check: some seconds at most, if
// it is linearizable, since its operations are short.
const patience = 2 * time.Minute

// history is what one history is made of. The seed decides what the clients
// try; the order in which they come to it is the scheduler's.
type history struct {
	profile profile
	seed    uint64
	disk    bool
}

func (h history) options(t *testing.T, r *rand.Rand, floor *atomic.Int64) (dir string, o log.Options) {
	o = log.Options{
		SegmentBytes:   []int64{700, 1200, 3000}[r.IntN(3)],
		IndexInterval:  []int64{1, 200, 0}[r.IntN(3)],
		MappedSegments: []int{1, 2, 0}[r.IntN(3)],
		Retention:      retention.Floor(floor.Load),
	}
	if h.profile.compacted {
		o.Compaction = &compact.Options{MapBytes: 64 << 10}
	}
	if h.disk {
		return t.TempDir(), o
	}
	o.Env.FS = unsteady(vfs.NewMem(), h.seed)
	return "log", o
}

// make makes the history; of a subject that is broken on purpose, if broken is
// not nil.
func (h history) make(t *testing.T, broken func(subject) subject) []porcupine.Operation {
	r := rand.New(rand.NewPCG(h.seed, 1))
	floor := new(atomic.Int64)
	dir, o := h.options(t, r, floor)
	open := func() subject {
		l, err := log.Open(ctx, dir, o)
		require.NoError(t, err)
		return real{l}
	}
	x := &run{log: open(), levels: h.profile.levels, floor: floor}
	if broken != nil {
		x.log = broken(x.log)
	}
	defer shake(h.seed)()
	clients := 4 + r.IntN(5)
	steps := 40 + r.IntN(60)
	closer := -1
	if r.IntN(3) == 0 {
		closer = r.IntN(clients)
	}
	var wg sync.WaitGroup
	all := make([]*client, clients+1)
	for i := range all {
		all[i] = &client{run: x, number: i, rand: rand.New(rand.NewPCG(h.seed, uint64(2+i)))}
		if i == clients {
			break // it looks at what is left
		}
		wg.Go(func() {
			for range steps / clients {
				pick(all[i].rand.IntN, reads, h.profile.do)(all[i])
			}
			if i == closer {
				all[i].close()
			}
		})
	}
	wg.Wait()
	last := all[clients]
	if closer < 0 {
		last.close()
	}
	call := last.now()
	x.log = open()
	last.note(openOp{}, call, result{})
	for m := range leaderEpoch + 1 {
		last.markOf(m)
	}
	for _, level := range h.profile.levels {
		last.walkFrom(level, x.log.First(), 0)
	}
	require.NoError(t, x.log.Close())
	var did []porcupine.Operation
	for _, c := range all {
		did = append(did, c.did...)
	}
	return did
}

// check checks it; one that is not linearizable is written out to be looked at.
func (h history) check(t *testing.T, did []porcupine.Operation) {
	verdict, info := porcupine.CheckOperationsVerbose(model, did, patience)
	if verdict == porcupine.Ok {
		return
	}
	name := filepath.Join(kept(t), fmt.Sprintf("history-%d.html", h.seed))
	require.NoError(t, porcupine.VisualizePath(model, info, name))
	t.Errorf("%s: %d operations of seed %d; see %s\n%s\nagain, since the scheduler decides too:\n"+
		"  go test -tags invariants ./fuzz/concurrent -run '%s' -seed %d -count 100",
		verdict, len(did), h.seed, name, stuck(info, did), t.Name(), h.seed)
}

// kept is a directory that stays: the same history may never come again.
func kept(t *testing.T) string {
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		return t.ArtifactDir()
	}
	dir, err := os.MkdirTemp("", "seglog-history-")
	require.NoError(t, err)
	return dir
}

// stuck tells where the longest linearization ends, and what comes next.
func stuck(info porcupine.LinearizationInfo, did []porcupine.Operation) string {
	var longest []porcupine.Operation
	for _, list := range info.PartialLinearizationsOperations() {
		for _, l := range list {
			if len(l) > len(longest) {
				longest = l
			}
		}
	}
	s, text := model.Init(), ""
	var done []int64
	for _, o := range longest {
		_, s = model.Step(s, o.Input, o.Output)
		done = append(done, o.Call<<32|o.Return)
	}
	left := slices.DeleteFunc(slices.Clone(did), func(o porcupine.Operation) bool { return slices.Contains(done, o.Call<<32|o.Return) })
	slices.SortFunc(left, func(a, b porcupine.Operation) int { return int(a.Return - b.Return) })
	for _, o := range longest[max(len(longest)-6, 0):] {
		text += fmt.Sprintf("  then %T%v: %v (client %d, %d to %d)\n", o.Input, o.Input, o.Output, o.ClientId, o.Call, o.Return)
	}
	text += fmt.Sprintf("  the log is %v\n", s)
	for _, o := range left[:min(len(left), 8)] {
		text += fmt.Sprintf("  left %T%v: %v (client %d, %d to %d)\n", o.Input, o.Input, o.Output, o.ClientId, o.Call, o.Return)
	}
	if testing.Verbose() {
		all := slices.Clone(did)
		slices.SortFunc(all, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		for _, o := range all {
			text += fmt.Sprintf("  %T%v: %v (client %d, %d to %d)\n", o.Input, o.Input, o.Output, o.ClientId, o.Call, o.Return)
		}
	}
	return text
}
