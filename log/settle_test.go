package log_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// markerGone is a log whose snapshot at from has a transaction open that ended at
// marker, which compaction took, with all of the transaction. That the snapshot is
// superseded does not make it go for certain: a loss of power can bring it back.
func markerGone(t *testing.T) (l *log.Log, mem *vfs.Mem, o log.Options, from, marker int64) {
	c := newClock()
	o = compactedLog()
	c.option(&o)
	l, _, mem = inMem(t, o)
	big := strings.Repeat(".", 200)
	send := func(sequence int32, transactional bool, r record.Record) {
		raw := encode(t, record.BatchOptions{LeaderEpoch: -1, Transactional: transactional, Producer: &record.Producer{ID: 7, Sequence: sequence}}, r)
		_, err := l.AppendBatch(raw, log.FromClient)
		require.NoError(t, err)
	}
	send(0, true, keyed("a", big))
	roll(t, l)
	require.NoError(t, l.Checkpoint(ctx))
	from = l.End()
	old, err := vfs.ReadFile(mem, filepath.Join("log", segment.Name(from, segment.SnapshotSuffix)))
	require.NoError(t, err)
	end, err := l.EndTransaction(log.EndTxn{ProducerID: 7, Commit: true})
	require.NoError(t, err)
	marker = end.First
	put(t, l, keyed("a", big))
	send(1, false, keyed("b", big))
	roll(t, l)
	for range 3 {
		compacted(t, l)
		c.add(2 * time.Hour)
		put(t, l, keyed("a", big))
		roll(t, l)
	}
	compacted(t, l)
	v, err := l.Borrow(marker, 1)
	require.NoError(t, err)
	defer v.Release()
	b, err := record.Parse(v.Bytes())
	require.NoError(t, err)
	require.Greater(t, b.BaseOffset, marker, "the marker is there")
	require.NoError(t, vfs.WriteFile(mem, filepath.Join("log", segment.Name(from, segment.SnapshotSuffix)), old))
	return l, mem, o, from, marker
}

// TestCompactedMarkerEndsItsTransaction: a snapshot may be older than the end of
// a transaction of which compaction has left nothing. Neither a cut nor an open that
// begin there take the transaction for an open one.
func TestCompactedMarkerEndsItsTransaction(t *testing.T) {
	l, mem, o, from, marker := markerGone(t)
	newest := mem.Fork()
	require.NoError(t, newest.Remove(filepath.Join("log", recovery.CheckpointName)))
	entries, err := newest.ReadDir("log")
	require.NoError(t, err)
	for _, e := range entries {
		if offset, suffix, ok := segment.ParseName(e.Name()); ok && suffix == segment.SnapshotSuffix {
			require.GreaterOrEqual(t, offset, from)
			if offset > from {
				require.NoError(t, newest.Remove(filepath.Join("log", e.Name())))
			}
		}
	}
	o.Env.FS = newest
	opened := open(t, "log", o)
	require.Equal(t, opened.End(), opened.LastStable(), "opened")
	require.EqualValues(t, -1, opened.Producers()[0].TxnFirst)

	require.NoError(t, l.DropFrom(marker+2))
	require.LessOrEqual(t, l.End(), marker+2)
	require.Equal(t, l.End(), l.LastStable(), "cut")
	put(t, l, keyed("c", "1"))
	require.Equal(t, l.End(), l.LastStable(), "and appended to")
}
