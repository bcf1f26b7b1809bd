package log_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestTailWakes: a reader at the end gets what is appended within a moment, and
// asks the file system for nothing while it waits.
func TestTailWakes(t *testing.T) {
	l, faulty, _ := inMem(t, small())
	fill(t, l, 3)
	ctx, cancel := context.WithCancel(ctx)
	type seen struct {
		offset int64
		at     time.Time
	}
	got := make(chan seen, 100)
	var last error
	var wg sync.WaitGroup
	wg.Go(func() {
		for r, err := range l.Tail(ctx, 1) {
			if last = err; err == nil {
				assert.Equal(t, value(int(r.Offset)), string(r.Value))
				got <- seen{r.Offset, time.Now()}
			}
		}
	})
	assert.Equal(t, int64(1), (<-got).offset)
	assert.Equal(t, int64(2), (<-got).offset)

	calls := faulty.Calls(vfs.AnyOp)
	time.Sleep(20 * time.Millisecond)
	assert.Equal(t, calls, faulty.Calls(vfs.AnyOp), "waiting is not polling")
	var waits []time.Duration
	for i := range 30 { // over rolls as well
		time.Sleep(time.Millisecond)
		began := time.Now()
		fill(t, l, 1)
		s := <-got
		assert.Equal(t, int64(3+i), s.offset)
		waits = append(waits, s.at.Sub(began))
	}
	var sum time.Duration
	for _, w := range waits {
		sum += w
	}
	t.Logf("woken after %v on average", sum/time.Duration(len(waits)))
	cancel()
	wg.Wait()
	assert.ErrorIs(t, last, context.Canceled)
}

func TestTailEnds(t *testing.T) {
	t.Run("Close", func(t *testing.T) {
		l, _, _ := inMem(t, small())
		fill(t, l, 3)
		inside, _, _ := inMem(t, small())
		fill(t, inside, 3)
		var last error
		for _, err := range inside.Tail(ctx, 0) {
			if last = err; err == nil {
				_ = inside.Close()
			}
		}
		assert.ErrorIs(t, last, log.ErrClosed)
		waiting := make(chan error)
		go func() {
			var last error
			for _, err := range l.Tail(ctx, 3) {
				last = err
			}
			waiting <- last
		}()
		time.Sleep(5 * time.Millisecond)
		closeLog(t, l)
		assert.ErrorIs(t, <-waiting, log.ErrClosed)
		for _, err := range l.Tail(ctx, 3) {
			assert.ErrorIs(t, err, log.ErrClosed)
		}
	})
	t.Run("trimmed and beyond", func(t *testing.T) {
		l, _, _ := inMem(t, small())
		fill(t, l, 12)
		require.NoError(t, l.DropBefore(4))
		for offset, want := range map[int64]error{3: log.ErrTrimmed, 13: log.ErrBeyond, -1: log.ErrTrimmed} {
			n := 0
			for _, err := range l.Tail(ctx, offset) {
				assert.ErrorIs(t, err, want)
				n++
			}
			assert.Equal(t, 1, n)
		}
	})
	t.Run("dropped faster than read", func(t *testing.T) {
		l, _, _ := inMem(t, small())
		fill(t, l, 12)
		var last error
		n := 0
		for _, err := range l.Tail(ctx, 0) {
			if last = err; err == nil {
				n++
				require.NoError(t, l.DropBefore(11))
			}
		}
		assert.ErrorIs(t, last, log.ErrTrimmed)
		assert.Equal(t, 1, n)
	})
	t.Run("truncated below", func(t *testing.T) {
		l, _, _ := inMem(t, small())
		fill(t, l, 12)
		var got []int64
		var last error
		for r, err := range l.Tail(ctx, 10) {
			if last = err; err != nil {
				break
			}
			if got = append(got, r.Offset); r.Offset == 11 {
				require.NoError(t, l.DropFrom(3))
			}
		}
		assert.Equal(t, []int64{10, 11}, got)
		assert.ErrorIs(t, last, log.ErrBeyond)
	})
	t.Run("stopped by its reader", func(t *testing.T) {
		l, _, _ := inMem(t, small())
		fill(t, l, 12)
		for range l.Tail(ctx, 0) {
			break
		}
		for range l.From(0) {
			break
		}
		assert.Zero(t, l.Stats().Pins)
	})
}

// TestFromHoldsNothing between two records: a consumer that stops to think
// keeps no segment from going.
func TestFromHoldsNothing(t *testing.T) {
	l, _, mem := inMem(t, small())
	fill(t, l, 100)
	require.NoError(t, l.Sync(ctx))
	used := mem.Used()
	for _, err := range l.From(0) {
		require.NoError(t, err)
		assert.Zero(t, l.Stats().Pins)
		require.NoError(t, l.DropBefore(95))
		assert.Less(t, mem.Used(), used/4)
		break
	}
}
