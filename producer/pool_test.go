package producer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/record"
)

func testPool(total, unit int64) *pool { return newPool(total, unit, func() {}) }

func TestPoolReusesBatches(t *testing.T) {
	p := testPool(1000, 100)
	b, err := p.take(background, 100, 0)
	require.NoError(t, err)
	require.EqualValues(t, 900, p.available())
	p.give(b, 100)
	again, err := p.take(background, 100, 0)
	require.NoError(t, err)
	require.Same(t, b, again)
	// Free batches are given up for a larger one.
	p.give(again, 100)
	_, err = p.take(background, 1000, 0)
	require.NoError(t, err)
	require.Zero(t, p.available())
}

// The first in line gets what comes back, in pieces, before a smaller one behind
// it does.
func TestPoolServesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := testPool(300, 100)
		var taken []*record.Builder
		for range 3 {
			b, err := p.take(background, 100, 0)
			require.NoError(t, err)
			taken = append(taken, b)
		}
		var order []string
		wait := func(name string, n int64) {
			go func() {
				b, err := p.take(background, n, time.Hour)
				require.NoError(t, err)
				order = append(order, name)
				p.give(b, n)
			}()
			synctest.Wait()
		}
		wait("large", 250)
		wait("small", 60)
		for i, b := range taken {
			require.Len(t, order, 0, "after %d", i)
			require.False(t, p.tryTake(1), "nobody goes before those who wait")
			p.give(b, 100)
			synctest.Wait()
		}
		require.Equal(t, []string{"large", "small"}, order)
		require.EqualValues(t, 300, p.available())
	})
}

func TestPoolTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := testPool(100, 100)
		b, err := p.take(background, 60, 0)
		require.NoError(t, err)
		began := time.Now()
		_, err = p.take(background, 100, time.Minute)
		require.ErrorIs(t, err, ErrExhausted)
		require.ErrorContains(t, err, "no 100 of 100 bytes in 1m0s")
		require.Equal(t, time.Minute, time.Since(began))
		require.EqualValues(t, 40, p.available(), "what it had got is back")
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		_, err = p.take(ctx, 100, time.Minute)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		p.give(b, 60)
		require.EqualValues(t, 100, p.available())
	})
}

// Who stands behind one that gives up gets what that one had.
func TestPoolGivesOnWhatATimeoutHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := testPool(100, 100)
		_, err := p.take(background, 60, 0)
		require.NoError(t, err)
		go func() {
			_, err := p.take(background, 100, time.Second)
			require.ErrorIs(t, err, ErrExhausted)
		}()
		synctest.Wait()
		began := time.Now()
		_, err = p.take(background, 30, time.Minute)
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestPoolClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := testPool(100, 100)
		_, err := p.take(background, 60, 0)
		require.NoError(t, err)
		go func() {
			time.Sleep(time.Second)
			p.close(ErrClosed)
		}()
		_, err = p.take(background, 100, time.Minute)
		require.ErrorIs(t, err, ErrClosed)
		_, err = p.take(background, 10, time.Minute)
		require.ErrorIs(t, err, ErrClosed)
	})
}
