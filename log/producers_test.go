package log_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// sent is a client's batch of count records.
func sent(t testing.TB, id int64, epoch int16, sequence int32, count int, transactional bool) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{Producer: &record.Producer{ID: id, Epoch: epoch, Sequence: sequence}, Transactional: transactional})
	for i := range count {
		require.NoError(t, b.Add(&record.Record{Value: []byte(value(i)), Time: time.Now()}))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return append([]byte(nil), raw...)
}

func send(t testing.TB, l *log.Log, id int64, epoch int16, sequence int32, count int) log.Appended {
	t.Helper()
	a, err := l.AppendBatch(sent(t, id, epoch, sequence, count, false), log.FromClient)
	require.NoError(t, err)
	return a
}

func sendTxn(t testing.TB, l *log.Log, id int64, epoch int16, sequence int32, count int) log.Appended {
	t.Helper()
	a, err := l.AppendBatch(sent(t, id, epoch, sequence, count, true), log.FromClient)
	require.NoError(t, err)
	return a
}

func end(t testing.TB, l *log.Log, id int64, epoch int16, commit bool) log.Appended {
	t.Helper()
	a, err := l.EndTransaction(log.EndTxn{ProducerID: id, Epoch: epoch, EpochRaised: true, Commit: commit})
	require.NoError(t, err)
	return a
}

func TestIdempotentAppends(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	first := send(t, l, 7, 0, 0, 3)
	assert.Equal(t, log.Appended{First: 0, Last: 2}, first)
	send(t, l, 7, 0, 3, 2)
	again := send(t, l, 7, 0, 0, 3)
	batch, err := record.Parse(sent(t, 7, 0, 0, 3, false))
	require.NoError(t, err)
	assert.WithinDuration(t, time.UnixMilli(batch.MaxTimestamp), again.Time, time.Minute, "the largest of its times")
	again.Time = time.Time{}
	assert.Equal(t, log.Appended{First: 0, Last: 2, Duplicate: true}, again)
	assert.EqualValues(t, 5, l.End())

	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"a gap":                 {sent(t, 7, 0, 6, 1, false), log.ErrOutOfOrderSequence},
		"a part of a duplicate": {sent(t, 7, 0, 0, 2, false), log.ErrOutOfOrderSequence},
		"a new epoch not at 0":  {sent(t, 7, 1, 5, 1, false), log.ErrOutOfOrderSequence},
		"without a sequence":    {sent(t, 7, 0, -1, 1, false), record.ErrInvalid},
	} {
		_, err := l.AppendBatch(c.raw, log.FromClient)
		assert.ErrorIs(t, err, c.want, name)
	}
	send(t, l, 7, 1, 0, 1)
	_, err = l.AppendBatch(sent(t, 7, 0, 5, 1, false), log.FromClient)
	assert.ErrorIs(t, err, log.ErrProducerFenced)
	assert.EqualValues(t, 6, l.End(), "what was refused is not there")

	send(t, l, 8, 0, math.MaxInt32, 1)
	send(t, l, 8, 0, 0, 1)
}

// What producers sent is known after every kind of end: their last batch is a
// duplicate, the one behind it is taken, any other is refused.
func TestProducersSurvive(t *testing.T) {
	for name, restart := range map[string]func(*log.Log, *vfs.Mem) *vfs.Mem{
		"close": func(l *log.Log, m *vfs.Mem) *vfs.Mem { _ = l.Close(); return m },
		"kill":  func(_ *log.Log, m *vfs.Mem) *vfs.Mem { return m.Kill() },
		"power cut": func(l *log.Log, m *vfs.Mem) *vfs.Mem {
			_ = l.Sync(ctx)
			return m.Crash(3)
		},
		"checkpoint and power cut": func(l *log.Log, m *vfs.Mem) *vfs.Mem {
			_ = l.Checkpoint(ctx)
			return m.Crash(4)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMem()
			o := small()
			for round := range int32(6) {
				o.Env.FS = m
				l, err := log.Open(ctx, "log", o)
				require.NoError(t, err)
				if round > 0 {
					assert.True(t, send(t, l, 7, 0, round*3-1, 1).Duplicate)
					_, err := l.AppendBatch(sent(t, 7, 0, round*3+1, 1, false), log.FromClient)
					assert.ErrorIs(t, err, log.ErrOutOfOrderSequence)
				}
				for i := range int32(3) {
					assert.False(t, send(t, l, 7, 0, round*3+i, 1).Duplicate)
				}
				fill(t, l, 2)
				m = restart(l, m)
			}
		})
	}
}

// Readers of committed records see those of committed transactions, up to where
// all is decided, live and after each kind of end.
func TestReadCommitted(t *testing.T) {
	m := vfs.NewMem()
	o := small()
	o.Env.FS = m
	l := open(t, "log", o)
	var committed []int64
	take := func(a log.Appended) {
		for at := a.First; at <= a.Last; at++ {
			committed = append(committed, at)
		}
	}
	for i := range int16(8) {
		mine := sendTxn(t, l, 1, i, 0, 2)
		other := sendTxn(t, l, 2, i, 0, 1)
		first, err := l.Append(rec("plain"))
		require.NoError(t, err)
		mine2 := sendTxn(t, l, 1, i, 2, 1)
		end(t, l, 1, i+1, i%2 == 0)
		if i%2 == 0 {
			take(mine)
		}
		end(t, l, 2, i+1, i%3 == 0)
		if i%3 == 0 {
			take(other)
		}
		take(log.Appended{First: first, Last: first})
		if i%2 == 0 {
			take(mine2)
		}
	}
	stable := l.End()
	open := sendTxn(t, l, 3, 0, 0, 2)
	_, err := l.Append(rec("behind an open transaction"))
	require.NoError(t, err)
	assert.Equal(t, stable, open.First)

	check := func(l *log.Log) {
		t.Helper()
		assert.Equal(t, stable, l.LastStable())
		var got []int64
		for r, err := range l.Isolated(log.ReadCommitted).From(0) {
			require.NoError(t, err)
			got = append(got, r.Offset)
		}
		assert.Equal(t, committed, got)
		n := 0
		for _, err := range l.From(0) {
			require.NoError(t, err)
			n++
		}
		assert.Equal(t, int(l.End())-16, n, "all but the markers")
		_, err := l.Isolated(log.ReadCommitted).Read(stable)
		assert.ErrorIs(t, err, log.ErrBeyond)
		aborted := l.Aborted(0, l.End())
		assert.Len(t, aborted, 4+5)
		for _, a := range l.Aborted(7, 8) {
			assert.LessOrEqual(t, a.First, int64(7))
			assert.GreaterOrEqual(t, a.Last, int64(7))
		}
	}
	check(l)
	require.NoError(t, l.Sync(ctx))
	for name, m := range map[string]*vfs.Mem{"kill": m.Kill(), "power cut": m.Crash(9)} {
		o.Env.FS = m
		again, err := log.Open(ctx, "log", o)
		require.NoError(t, err, name)
		check(again)
		require.NoError(t, again.Close())
		again, err = log.Open(ctx, "log", o)
		require.NoError(t, err, name)
		assert.True(t, again.Recovery().Clean)
		check(again)
		end(t, again, 3, 1, true)
		assert.Equal(t, again.End(), again.LastStable(), name)
		require.NoError(t, again.Close())
	}
}

// Cutting the log takes back what the cut batches had said.
func TestDropFromTakesStateBack(t *testing.T) {
	l, _, _ := inMem(t, small())
	require.NoError(t, l.SetLeaderEpoch(3))
	send(t, l, 7, 0, 0, 2)    // 0, 1
	sendTxn(t, l, 8, 0, 0, 1) // 2
	end(t, l, 8, 1, false)    // 3
	require.NoError(t, l.Checkpoint(ctx))
	require.NoError(t, l.SetLeaderEpoch(5))
	send(t, l, 7, 0, 2, 2)    // 4, 5
	sendTxn(t, l, 8, 1, 0, 1) // 6
	require.EqualValues(t, 6, l.LastStable())

	require.NoError(t, l.DropFrom(4))
	assert.EqualValues(t, 4, l.LastStable())
	assert.EqualValues(t, 3, l.LeaderEpoch())
	assert.True(t, send(t, l, 7, 0, 0, 2).Duplicate)
	assert.False(t, send(t, l, 7, 0, 2, 1).Duplicate)

	require.NoError(t, l.DropFrom(3))
	assert.EqualValues(t, 2, l.LastStable(), "its marker is gone: it is open again")
	assert.Empty(t, l.Aborted(0, 100))
}

func TestMarkersAreChecked(t *testing.T) {
	l, _, _ := inMem(t, log.Options{})
	sendTxn(t, l, 1, 4, 0, 1)
	_, err := l.EndTransaction(log.EndTxn{ProducerID: 1, Epoch: 3})
	assert.ErrorIs(t, err, log.ErrProducerFenced)
	_, err = l.EndTransaction(log.EndTxn{ProducerID: 1, Epoch: 4, EpochRaised: true})
	assert.ErrorIs(t, err, log.ErrProducerFenced)
	_, err = l.EndTransaction(log.EndTxn{ProducerID: 1, Epoch: 4, CoordinatorEpoch: 2, Commit: true})
	assert.NoError(t, err, "transaction.version 0 and 1 keep the epoch")
	_, err = l.EndTransaction(log.EndTxn{ProducerID: 1, Epoch: 4, CoordinatorEpoch: 1, Commit: true})
	assert.ErrorIs(t, err, log.ErrCoordinatorFenced)
	sendTxn(t, l, 1, 4, 1, 1)
	_, err = l.AppendBatch(sent(t, 1, 4, 2, 1, false), log.FromClient)
	assert.ErrorIs(t, err, log.ErrTransactionState)
}

func TestHighWatermarkBoundsReaders(t *testing.T) {
	m := vfs.NewMem()
	o := log.Options{Mode: log.Follower, SegmentBytes: 64 << 10, Env: log.Env{FS: m}}
	l, err := log.Open(ctx, "log", o)
	require.NoError(t, err)
	fill(t, l, 10)
	assert.EqualValues(t, 0, l.HighWatermark())
	require.NoError(t, l.SetHighWatermark(6))
	n := 0
	for _, err := range l.Isolated(log.ReadUncommitted).From(0) {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, 6, n)
	v, err := l.Isolated(log.ReadUncommitted).Borrow(3, 1<<20)
	require.NoError(t, err)
	assert.EqualValues(t, 6, v.Next())
	v.Release()
	require.NoError(t, l.SetHighWatermark(99))
	assert.EqualValues(t, 10, l.HighWatermark(), "never beyond the end")
	require.NoError(t, l.SetHighWatermark(6))
	require.NoError(t, l.Close())

	l, err = log.Open(ctx, "log", o)
	require.NoError(t, err)
	assert.EqualValues(t, 6, l.HighWatermark(), "kept")
	assert.EqualValues(t, 10, l.End(), "with epochs to compare nothing is cut")
	woken := make(chan int64)
	go func() {
		for r, err := range l.Isolated(log.ReadUncommitted).Tail(ctx, 6) {
			if err == nil {
				woken <- r.Offset
			}
			break
		}
	}()
	time.Sleep(5 * time.Millisecond)
	require.NoError(t, l.SetHighWatermark(7))
	assert.EqualValues(t, 6, <-woken)
	require.NoError(t, l.Close())
}

// TestFollowerHoldsBackEndedTransactions: a transaction whose marker is not below
// the high watermark is not decided for readers of committed records, however
// the log was closed and opened in between, and whatever of its state is there.
func TestFollowerHoldsBackEndedTransactions(t *testing.T) {
	o := log.Options{Mode: log.Follower, SegmentBytes: 64 << 10}
	for name, c := range map[string]struct {
		stop func(*testing.T, *log.Log, *vfs.Mem) *vfs.Mem
		end  int64
	}{
		"closed": {func(t *testing.T, l *log.Log, m *vfs.Mem) *vfs.Mem {
			require.NoError(t, l.Close())
			return m.Kill()
		}, 6},
		"killed": {func(t *testing.T, _ *log.Log, m *vfs.Mem) *vfs.Mem { return m.Kill() }, 6},
		"checkpointed and killed": {func(t *testing.T, l *log.Log, m *vfs.Mem) *vfs.Mem {
			require.NoError(t, l.Checkpoint(ctx))
			return m.Kill()
		}, 6},
		"closed, a snapshot alone is left": {func(t *testing.T, l *log.Log, m *vfs.Mem) *vfs.Mem {
			require.NoError(t, l.Close())
			m = m.Kill()
			require.NoError(t, m.Remove("log/seglog.checkpoint"))
			return m
		}, 6},
		"cut behind the markers, closed": {func(t *testing.T, l *log.Log, m *vfs.Mem) *vfs.Mem {
			require.NoError(t, l.Checkpoint(ctx))
			fill(t, l, 1)
			require.NoError(t, l.DropFrom(6))
			assert.EqualValues(t, 0, l.LastStable())
			require.NoError(t, l.Close())
			return m.Kill()
		}, 6},
		"cut before the last of them, closed": {func(t *testing.T, l *log.Log, m *vfs.Mem) *vfs.Mem {
			require.NoError(t, l.DropFrom(5))
			assert.EqualValues(t, 0, l.LastStable())
			require.NoError(t, l.Close())
			return m.Kill()
		}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMem()
			o.Env.FS = m
			l, err := log.Open(ctx, "log", o)
			require.NoError(t, err)
			sendTxn(t, l, 7, 0, 0, 2) // 0 and 1
			sendTxn(t, l, 8, 0, 0, 1) // 2
			end(t, l, 7, 1, true)     // 3
			end(t, l, 8, 1, false)    // 4
			fill(t, l, 1)
			require.NoError(t, l.SetHighWatermark(1))
			require.EqualValues(t, 0, l.LastStable())
			o.Env.FS = c.stop(t, l, m)
			l, err = log.Open(ctx, "log", o)
			require.NoError(t, err)
			require.EqualValues(t, c.end, l.End())
			for _, mark := range []struct{ high, stable int64 }{{3, 0}, {4, 2}, {5, 5}} {
				require.NoError(t, l.SetHighWatermark(mark.high))
				assert.Equal(t, mark.stable, l.LastStable(), "high watermark %d", mark.high)
			}
			require.NoError(t, l.Close())
		})
	}
}

func TestLeaderEpochs(t *testing.T) {
	m := vfs.NewMem()
	o := log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: m}}
	l, err := log.Open(ctx, "log", o)
	require.NoError(t, err)
	assert.EqualValues(t, -1, l.LeaderEpoch())
	fill(t, l, 3)
	require.NoError(t, l.SetLeaderEpoch(4))
	fill(t, l, 2)
	require.NoError(t, l.SetLeaderEpoch(2)) // no news
	want := []log.EpochEntry{{Epoch: 0, Start: 0}, {Epoch: 4, Start: 3}}
	assert.Equal(t, want, l.LeaderEpochs())
	known, at, ok := l.EndOffsetForEpoch(1)
	assert.True(t, ok)
	assert.EqualValues(t, 0, known)
	assert.EqualValues(t, 3, at)
	m = m.Kill()
	require.NoError(t, m.Remove("log/leader-epoch-checkpoint"))
	o.Env.FS = m
	l, err = log.Open(ctx, "log", o)
	require.NoError(t, err)
	assert.Equal(t, want, l.LeaderEpochs(), "derived from the batches")
	require.NoError(t, l.DropBefore(4))
	assert.Equal(t, []log.EpochEntry{{Epoch: 4, Start: 4}}, l.LeaderEpochs())
	require.NoError(t, l.Close())
}
