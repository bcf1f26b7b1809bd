package workload

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Store is what appending needs of an engine. All but Append are called by
// one goroutine, while nobody appends.
type Store struct {
	Append  func() error          // appends Count records of Size bytes, as one where the engine can
	Recycle func() error          // drops everything
	Held    func() (int64, error) // counts the records that are there, by reading them
	Count   int
	Size    int
	Window  int // payload bytes after which everything is dropped; 0 is Window
}

func (s Store) window() int64 {
	if s.Window == 0 {
		return Window
	}
	return int64(s.Window)
}

// Append times single calls of Append, one after the other.
func Append(b *testing.B, s Store) {
	b.Helper()
	b.SetBytes(int64(s.Count * s.Size))
	b.ReportAllocs()
	total, held := int64(0), int64(s.Count)
	if err := s.Append(); err != nil { // the first does what is done once
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Append(); err != nil {
			b.Fatal(err)
		}
		total += int64(s.Count)
		if held += int64(s.Count); held*int64(s.Size) >= s.window() {
			b.StopTimer()
			if err := errors.Join(s.verify(held), s.Recycle(), s.Append()); err != nil {
				b.Fatal(err)
			}
			held = int64(s.Count)
			b.StartTimer()
		}
	}
	Rate(b, total)
	if err := s.verify(held); err != nil {
		b.Fatal(err)
	}
}

func (s Store) verify(held int64) error {
	got, err := s.Held()
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	if got != held {
		return fmt.Errorf("%d records were appended and %d are there", held, got)
	}
	return nil
}

// AppendParallel times b.N and a few more calls of Append from several
// goroutines. It reports how fair the engine is to them, and with latencies set
// how long single calls took.
//
// Fairness is Jain's index of the calls each had made when all ended: 1 where all
// had as many, 1/writers where one had all.
func AppendParallel(b *testing.B, s Store, writers int, latencies bool) {
	b.Helper()
	b.SetBytes(int64(s.Count * s.Size))
	b.ReportAllocs()
	window := max(s.window()/int64(s.Count*s.Size), 1)
	calls := make([]int64, writers)
	took := make([]Latencies, writers)
	made := int64(0)
	if err := s.Append(); err != nil { // the first does what is done once
		b.Fatal(err)
	}
	b.ResetTimer()
	for made < int64(b.N) {
		leg := race(calls, took, latencies, min(int64(b.N)-made, window), s.Append)
		b.StopTimer()
		if leg.err != nil {
			b.Fatal(leg.err)
		}
		made += leg.calls
		if err := errors.Join(s.verify((1+leg.calls)*int64(s.Count)), s.Recycle(), s.Append()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.StopTimer()
	Rate(b, made*int64(s.Count))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(made), "ns/op")
	if writers > 1 {
		b.ReportMetric(fairness(calls), "fairness")
	}
	if latencies {
		Join(took).Report(b)
	}
}

type leg struct {
	calls int64
	err   error
}

// race lets len(calls) goroutines call op until there were target calls. Who
// takes long is not waited for by those who do not, so that calls tells how fair
// op is.
func race(calls []int64, took []Latencies, latencies bool, target int64, op func() error) leg {
	// A counter shared by each call would be what is timed, where a call is short.
	stride := int64(64)
	if latencies {
		stride = 1
	}
	var made atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for w := range calls {
		group.Go(func() {
			own := int64(0)
			defer func() { calls[w] += own }()
			for made.Load() < target && failed.Load() == nil {
				for range stride {
					var start time.Time
					if latencies {
						start = time.Now()
					}
					if err := op(); err != nil {
						failure := err // err itself would be allocated with each call
						failed.CompareAndSwap(nil, &failure)
						return
					}
					if latencies {
						took[w].Add(time.Since(start))
					}
				}
				own += stride
				made.Add(stride)
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return leg{err: *err}
	}
	return leg{calls: made.Load()}
}

func fairness(calls []int64) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range calls {
		sum += float64(c)
		squares += float64(c) * float64(c)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(calls)) * squares)
}

// Rate reports records/s of so many records.
func Rate(b *testing.B, records int64) {
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}
