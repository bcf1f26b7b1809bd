package broker_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/broker"
)

// TestOnTopics: who wants to know is told of each topic and partition that comes or
// goes, once it has, and of the end; nothing of what failed, nor after stop.
func TestOnTopics(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	var told, other atomic.Int32
	stop := b.OnTopics(func() { told.Add(1) })
	b.OnTopics(func() { other.Add(1) })
	create(t, b, "t", 1, nil)
	require.EqualValues(t, 1, told.Load())
	_, err := b.CreateTopic(t.Context(), broker.TopicSpec{Name: "t"})
	require.Error(t, err)
	require.Error(t, b.CreatePartitions(t.Context(), "t", 1, false))
	require.EqualValues(t, 1, told.Load())
	require.NoError(t, b.CreatePartitions(t.Context(), "t", 2, false))
	require.EqualValues(t, 2, told.Load())
	require.NoError(t, b.DeleteTopic("t"))
	require.EqualValues(t, 3, told.Load())
	stop()
	require.False(t, b.Closed())
	require.NoError(t, b.Close())
	require.True(t, b.Closed())
	require.EqualValues(t, 3, told.Load())
	require.EqualValues(t, 4, other.Load())
}

// TestFetchIsWoken: a fetch that waits ends, with what there is, when it is woken.
func TestFetchIsWoken(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := open(t, dir, nil)
		create(t, b, "t", 1, nil)
		produce(t, b, "t", 0, "a")
		p, err := b.Partition("t", 0)
		require.NoError(t, err)
		wake, done := make(chan struct{}, 1), make(chan []broker.Fetched)
		began := time.Now()
		go func() {
			done <- b.Fetch(t.Context(), broker.FetchOptions{MinBytes: 1000, MaxWait: time.Hour, Wake: wake}, []broker.FetchPartition{{Partition: p}})
		}()
		synctest.Wait()
		wake <- struct{}{}
		got := <-done
		defer broker.Release(got)
		require.NoError(t, got[0].Err)
		require.EqualValues(t, 1, got[0].View.Next())
		require.Equal(t, began, time.Now())
	})
}
