package inorder

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type job struct{ n, squared int }

// TestOrder: every job is worked on once and done in order, on the goroutine
// that gave it out; the first error, wherever it comes from, ends it at its
// place; and not more jobs exist than were promised.
func TestOrder(t *testing.T) {
	failWork, failDone := errors.New("work"), errors.New("done")
	rapid.Check(t, func(t *rapid.T) {
		workers := rapid.IntRange(1, 5).Draw(t, "workers")
		jobs := rapid.IntRange(0, 60).Draw(t, "jobs")
		badWork := rapid.IntRange(0, 90).Draw(t, "bad work")
		badDone := rapid.IntRange(0, 90).Draw(t, "bad done")
		drainAt := rapid.IntRange(0, 60).Draw(t, "drain")
		var worked atomic.Int64
		var done []int
		seen := make(map[*job]bool)
		p := Start(workers, func(worker int, j *job) error {
			if worker < 0 || worker >= workers {
				return errors.New("no such worker")
			}
			worked.Add(1)
			runtime.Gosched()
			j.squared = j.n * j.n
			if j.n == badWork {
				return failWork
			}
			return nil
		}, func(j *job) error {
			require.Equal(t, j.n*j.n, j.squared)
			if j.n == badDone {
				return failDone
			}
			done = append(done, j.n)
			return nil
		})
		var err error
		given := 0
		for n := range jobs {
			if n == drainAt {
				if err = p.Drain(); err != nil {
					break
				}
				require.Len(t, done, n)
			}
			var j *job
			if j, err = p.Next(); err != nil {
				break
			}
			seen[j] = true
			j.n, j.squared = n, 0
			p.Go()
			given++
		}
		if err == nil {
			err = p.Drain()
		}
		require.Equal(t, err, p.Drain(), "an error stays")
		p.Stop()

		end := min(jobs, badWork, badDone)
		var want error
		switch {
		case end == jobs:
		case badWork <= badDone:
			want = failWork
		default:
			want = failDone
		}
		require.Equal(t, want, err)
		require.Len(t, done, end)
		for i, n := range done {
			require.Equal(t, i, n)
		}
		require.LessOrEqual(t, len(seen), PerWorker*workers)
		require.LessOrEqual(t, worked.Load(), int64(given))
		if want == nil {
			require.EqualValues(t, jobs, worked.Load())
		}
	})
}

// TestParallel: two workers are at work at the same time.
func TestParallel(t *testing.T) {
	meet := make(chan struct{})
	p := Start(2, func(int, *job) error {
		select { // one sends and the other receives, or neither gets on
		case meet <- struct{}{}:
		case <-meet:
		}
		return nil
	}, func(*job) error { return nil })
	defer p.Stop()
	for range 4 {
		_, err := p.Next()
		require.NoError(t, err)
		p.Go()
	}
	require.NoError(t, p.Drain())
}

// TestStopEarly: what is under way is waited for, and what is not begun is left.
func TestStopEarly(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	var worked atomic.Int64
	p := Start(1, func(int, *job) error {
		worked.Add(1)
		close(begun)
		<-release
		return nil
	}, func(*job) error { return nil })
	for range PerWorker {
		_, err := p.Next()
		require.NoError(t, err)
		p.Go()
	}
	<-begun
	go close(release)
	p.failed.Store(true)
	p.Stop()
	require.EqualValues(t, 1, worked.Load())
}
