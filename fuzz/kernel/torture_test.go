//go:build unix

package kernel

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/fuzz/said"
	"github.com/seglog/seglog/fuzz/work"
	"github.com/seglog/seglog/log"
)

var (
	rounds = flag.Int("rounds", 4, "how often TestTorture kills each of its processes")
	age    = flag.Int("age", 10, "how many rounds of TestTorture a directory lasts")
)

// work1 works on one log until it is killed: directory, workload, boot, known, seed.
func work1(args []string) error {
	var n [3]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(args[2+i], 10, 64); err != nil {
			return err
		}
	}
	s := work.Subject{Dir: args[0], Workload: args[1], Boot: int(n[0]), Known: n[1], Rand: rand.New(rand.NewPCG(uint64(n[2]), 0)),
		Say: func(line string) { say("%s", line) }}
	return s.Run()
}

// readAlong reads logs that other processes write, read-only, and says what it
// saw, until it is killed:
//
//	<number of the log> <offset> <record>
func readAlong(dirs []string) error {
	failed := make(chan error)
	for i, dir := range dirs {
		go func() { failed <- follow(i, dir) }()
	}
	return <-failed
}

func follow(number int, dir string) error {
	var l *log.Log
	for {
		var err error
		if l, err = log.Open(ctx, dir, log.Options{Mode: log.ReadOnly, MappedSegments: 4}); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", dir, err)
		}
		time.Sleep(time.Millisecond) // its writer has not made it yet
	}
	for {
		for r, err := range l.Tail(ctx, l.First()) {
			if errors.Is(err, log.ErrTrimmed) || errors.Is(err, log.ErrBeyond) {
				break // dropped, in front of the reader or below it
			}
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			id, err := said.Parse(r.Value)
			if err != nil {
				return fmt.Errorf("%s, offset %d: %w", dir, r.Offset, err)
			}
			say("%d %d %v", number, r.Offset, id)
		}
	}
}

// tortured is one log and what it has to hold.
type tortured struct {
	workload, dir string
	h             *said.History
}

// TestTorture kills processes that write, all workloads at a time, each to its
// own log of one directory, and processes that read all of them along (pitfall
// T3). What was said to be appended, and what a reader saw, is there when the
// next process opens the log, in order, once; and nothing that nobody wrote.
func TestTorture(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	counts := make(map[string]int)
	for round := 0; round < *rounds; {
		dir := t.TempDir()
		var logs []*tortured
		for _, w := range work.Names() {
			logs = append(logs, &tortured{workload: w, dir: filepath.Join(dir, w+"-0"), h: said.NewHistory(work.Keyed(w), true)})
		}
		for boot := range min(*age, *rounds-round) {
			torture(t, r, logs, boot)
			round++
		}
		lookWithManager(t, dir, logs)
		for _, l := range logs {
			counts["records acknowledged, "+l.workload] += l.h.Counts.Acked
			counts["batches not said"] += l.h.Counts.Unsaid
			for note, n := range l.h.Counts.Notes {
				counts[note] += n
			}
		}
		require.NoError(t, os.RemoveAll(dir))
	}
	t.Logf("%d rounds, %d kills of writers: %v", *rounds, *rounds*len(work.Names()), counts)
}

// torture is one round: everybody starts, and is killed.
func torture(t *testing.T, r *rand.Rand, logs []*tortured, boot int) {
	var dirs []string
	for _, l := range logs {
		dirs = append(dirs, l.dir)
	}
	var wg sync.WaitGroup
	reader := start(t, "read", dirs...)
	var saw []sight
	wg.Go(func() { saw = hearReader(t, reader) })
	var writers sync.WaitGroup
	for _, l := range logs {
		l.h.Booted()
		seed := strconv.FormatInt(r.Int64(), 10)
		known := strconv.FormatInt(l.h.Known(), 10)
		c := start(t, "work", l.dir, l.workload, strconv.Itoa(boot), known, seed)
		lines, wait, early := int(math.Exp(r.Float64()*math.Log(1000))), time.Duration(r.IntN(3000))*time.Microsecond, r.IntN(6) == 0
		writers.Go(func() {
			ready := early
			for line := range c.lines {
				if err := l.h.Hear(boot, line); err != nil {
					t.Errorf("%s, round %d: %v", l.workload, boot, err)
					c.kill()
				}
				ready = ready || line == "ready"
				if lines--; ready && lines < 0 || early {
					time.AfterFunc(wait, c.kill)
					early, ready, lines = false, false, math.MaxInt
				}
			}
			c.wait()
		})
	}
	writers.Wait()
	reader.kill()
	wg.Wait()
	// Only now: a reader may see a record before it is heard what the log held.
	for _, x := range saw {
		l := logs[x.log]
		if l.workload == "truncate" {
			continue // nobody knows which of the records that were at an offset it saw
		}
		if err := l.h.Saw(x.offset, x.id); err != nil {
			t.Errorf("%s, round %d: %v", l.workload, boot, err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// sight is a record that a reader saw.
type sight struct {
	log    int
	offset int64
	id     said.ID
}

// hearReader lists what a reader saw.
func hearReader(t *testing.T, c *child) (saw []sight) {
	for line := range c.lines {
		var x sight
		if _, err := fmt.Sscan(line, &x.log, &x.offset, &x.id.Writer, &x.id.Batch, &x.id.Index, &x.id.Count); err != nil {
			t.Errorf("a reader says: %s", line)
			continue
		}
		saw = append(saw, x)
	}
	c.wait()
	return saw
}

// lookWithManager opens all the logs in one process: every one opens, and
// nothing in their files is at fault.
func lookWithManager(t *testing.T, dir string, logs []*tortured) {
	m, err := log.OpenManager(ctx, dir, log.ManagerOptions{})
	require.NoError(t, err)
	for _, p := range m.Partitions() {
		require.NoError(t, p.Err, p.Name)
		require.True(t, slices.ContainsFunc(logs, func(l *tortured) bool { return strings.HasSuffix(l.dir, p.Name) }), p.Name)
	}
	require.Len(t, m.Partitions(), len(logs))
	require.NoError(t, m.Close())
	for _, l := range logs {
		v, err := log.Verify(ctx, l.dir, log.Options{}, nil)
		require.NoError(t, err)
		require.Empty(t, v.Faults, l.workload)
	}
}
