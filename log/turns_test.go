package log_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
)

// Who wants to take segments out is served in turn, however many keep syncing:
// while it waits only those who were before it, and the one at work, sync.
func TestDropIsServedInTurn(t *testing.T) {
	var syncs atomic.Int64
	o := small()
	o.Trace.Synced = func(log.SyncEvent) { syncs.Add(1) }
	l, _, _ := inMem(t, o)
	fill(t, l, 200)
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for i := range 4 {
		busy.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := l.AppendSync(ctx, rec(value(0)))
				if i == 0 {
					err = l.Checkpoint(ctx)
				}
				if !assert.NoError(t, err) {
					return
				}
			}
		})
	}
	worst := int64(0)
	for range 100 {
		before := syncs.Load()
		require.NoError(t, l.DropBefore(l.First()+1))
		worst = max(worst, syncs.Load()-before)
	}
	close(stop)
	busy.Wait()
	assert.Less(t, worst, int64(12), "the longest wait, in syncs of others")
}
