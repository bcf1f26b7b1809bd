package kafka

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// budget is the memory that requests may take, all together.
type budget struct {
	all *semaphore.Weighted
	max int64
}

func newBudget(bytes int64) *budget { return &budget{semaphore.NewWeighted(bytes), bytes} }

// share is what one connection has of the budget, rounded up to steps.
type share struct {
	b    *budget
	have int64
}

// shareStep is what a share grows by. A connection has one without asking, so
// that small requests never wait for large ones.
const shareStep = 64 << 10

// grow makes the share n bytes at least, waiting for others to be given back.
func (s *share) grow(ctx context.Context, n int64) error {
	want := min((n-1)/shareStep*shareStep, s.b.max)
	if want <= s.have {
		return nil
	}
	if err := s.b.all.Acquire(ctx, want-s.have); err != nil {
		return err
	}
	s.have = want
	return nil
}

// shrink gives back what is more than n bytes need.
func (s *share) shrink(n int64) {
	want := max(n-1, 0) / shareStep * shareStep
	if want < s.have {
		s.b.all.Release(s.have - want)
		s.have = want
	}
}
