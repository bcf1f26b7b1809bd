package recovery

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"
)

// eachOnItsOwn calls do with each of the list, as many at a time as there are
// processors, in order. It gives one of the errors, if there are any.
func eachOnItsOwn[T any](list []T, do func(T) error) error {
	var next atomic.Int64
	errs := make([]error, min(len(list), runtime.GOMAXPROCS(0)))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for n := next.Add(1); n <= int64(len(list)) && errs[i] == nil; n = next.Add(1) {
				errs[i] = do(list[n-1])
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// shown adds up what is done of all segments.
type shown struct {
	mu       sync.Mutex
	progress func(done, total int64)
	done     int64
	total    int64
}

func newShown(segments []Segment, progress func(done, total int64)) *shown {
	s := &shown{progress: progress}
	for _, x := range segments {
		s.total += x.Size
	}
	return s
}

func (s *shown) add(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += bytes
	if s.progress != nil {
		s.progress(s.done, s.total)
	}
}
