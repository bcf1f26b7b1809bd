package log_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// Whatever was done and however it ended, the state that a log opens with is
// the one that its batches alone say.
func TestStateIsWhatTheBatchesSay(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		now := time.Now() // nothing expires
		o := small()
		o.Env.Now = func() time.Time { return now }
		m := vfs.NewMem()
		for range 6 {
			o.Env.FS = m
			l, err := log.Open(ctx, "log", o)
			require.NoError(t, err, "seed %d", seed)
			agrees(t, l, m, o, seed)
			for range r.IntN(25) {
				step(t, l, r)
			}
			switch r.IntN(4) {
			case 0:
				require.NoError(t, l.Close())
			case 1:
				m = m.Kill()
			default:
				m = m.Crash(r.Uint64())
			}
		}
	}
}

// step is one random thing that a broker does to a partition.
func step(t *testing.T, l *log.Log, r *rand.Rand) {
	t.Helper()
	id := r.Int64N(3)
	var epoch int16
	sequence := int32(0)
	open := false
	for _, p := range l.Producers() {
		if p.ID == id {
			epoch, sequence, open = p.Epoch, p.LastSequence+1, p.TxnFirst >= 0
		}
	}
	var err error
	switch what := r.IntN(21); {
	case what < 8:
		_, err = l.AppendBatch(sent(t, id, epoch, sequence, 1+r.IntN(2), open || r.IntN(2) == 0), log.FromClient)
	case what < 12:
		_, err = l.EndTransaction(log.EndTxn{ProducerID: id, Epoch: epoch + 1, EpochRaised: true, Commit: r.IntN(2) == 0})
	case what < 14:
		_, err = l.Append(rec(value(0)))
	case what < 15:
		err = l.Sync(ctx)
	case what < 16:
		err = l.Checkpoint(ctx)
	case what < 17:
		err = l.SetLeaderEpoch(l.LeaderEpoch() + 1)
	case what < 18:
		err = l.DropBefore(l.First() + r.Int64N(l.End()-l.First()+1)/3)
	case what < 19:
		err = l.DropFrom(max(l.First(), l.End()-r.Int64N(6)))
	case what < 20:
		_, err = l.Retain(ctx)
	default:
		err = l.DropAll(r.Int64N(l.End() + 5))
	}
	require.NoError(t, err)
}

// agrees opens a copy of the files without those that keep state, and compares.
func agrees(t *testing.T, l *log.Log, m *vfs.Mem, o log.Options, seed uint64) {
	t.Helper()
	bare := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(bare, "log", 0o755))
	entries, err := m.ReadDir("log")
	require.NoError(t, err)
	for _, e := range entries {
		name := "log/" + e.Name()
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		content, err := vfs.ReadFile(m, name)
		require.NoError(t, err)
		if !errors.Is(err, vfs.ErrCrashed) {
			require.NoError(t, vfs.WriteFile(bare, name, content))
		}
	}
	o.Env.FS, o.Mode = bare, log.ReadOnly
	derived, err := log.Open(ctx, "log", o)
	require.NoError(t, err, "seed %d", seed)
	defer derived.Close()
	require.Equal(t, derived.End(), l.End(), "seed %d", seed)
	if l.First() == 0 {
		require.Equal(t, derived.LastStable(), l.LastStable(), "seed %d", seed)
	} else { // a transaction may have begun among what was dropped
		require.LessOrEqual(t, l.LastStable(), max(derived.LastStable(), l.First()), "seed %d", seed)
	}
	if l.First() == 0 {
		require.Equal(t, aborts(derived), aborts(l), "seed %d", seed)
	} else {
		require.Subset(t, aborts(l), aborts(derived), "seed %d", seed)
	}
	known := map[int64]log.ProducerState{}
	for _, p := range l.Producers() { // some whose batches were dropped
		known[p.ID] = p
	}
	for _, p := range derived.Producers() {
		have := known[p.ID]
		if l.First() > 0 { // its marker, or where its transaction began, may be gone
			have.CoordinatorEpoch, have.TxnFirst = p.CoordinatorEpoch, p.TxnFirst
		}
		require.Equal(t, p, have, "seed %d", seed)
	}
	last := derived.LeaderEpochs()
	if n := len(last); n > 0 && l.First() < l.End() { // or nothing is known of what was dropped
		known, end, ok := l.EndOffsetForEpoch(last[n-1].Epoch)
		require.True(t, ok, "seed %d", seed)
		require.Equal(t, last[n-1].Epoch, known, "seed %d", seed)
		require.Equal(t, l.End(), end, "seed %d: %v, derived %v", seed, l.LeaderEpochs(), last)
	}
}

// aborts are the markers of aborted transactions, by producer.
func aborts(l *log.Log) [][2]int64 {
	var list [][2]int64
	for _, a := range l.Aborted(0, l.End()) {
		list = append(list, [2]int64{a.ProducerID, a.Last})
	}
	return list
}
