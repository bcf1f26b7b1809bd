package power

import (
	"context"
	"sync"
	"time"
)

// Campaign is many seeds.
type Campaign struct {
	Workloads []Workload // in turn
	Seed      uint64     // the first
	Cuts      int        // ends once the power was cut that often; 0 is no bound
	For       time.Duration
	Parallel  int
	Lie       Lie

	// Progress, if not nil, is called about every second, and at the end, with
	// what was counted and the next seed.
	Progress func(s *Stats, next uint64, took time.Duration)
}

// Run runs seeds until there are enough, ctx ends, or one fails. The failure is
// that of a run that said what it did.
func (c Campaign) Run(ctx context.Context) (*Stats, *Failure) {
	if c.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.For)
		defer cancel()
	}
	began := time.Now()
	var mu sync.Mutex
	total, next, last := NewStats(), c.Seed, began
	var failed *Failure
	var wg sync.WaitGroup
	for range max(c.Parallel, 1) {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for failed == nil && ctx.Err() == nil && (c.Cuts == 0 || total.PowerCuts() < c.Cuts) {
				p := NewPlan(c.Workloads[int(next)%len(c.Workloads)], next)
				p.Lie = c.Lie
				next++
				mu.Unlock()
				stats := NewStats()
				f := Run(p, stats, false)
				mu.Lock()
				total.Add(stats)
				if f != nil && (failed == nil || f.Plan.Seed < failed.Plan.Seed) {
					failed = f
				}
				if now := time.Now(); c.Progress != nil && now.Sub(last) >= time.Second {
					last = now
					c.Progress(total, next, now.Sub(began))
				}
			}
		})
	}
	wg.Wait()
	if c.Progress != nil {
		c.Progress(total, next, time.Since(began))
	}
	return total, failed
}
