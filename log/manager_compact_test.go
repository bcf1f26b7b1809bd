package log_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// TestManagerCompact: where compaction has come to is in the broker's file, and
// the next one begins there, also of a manager opened later; a partition of the
// same name begins anew.
func TestManagerCompact(t *testing.T) {
	mem := vfs.NewMem()
	m := manage(t, "data", onMem(mem))
	l, err := m.Create(ctx, "c-0", log.TopicID{1})
	require.NoError(t, err)
	put := func(l *log.Log) {
		for i := range 20 {
			_, err := l.Append(record.Record{Key: fmt.Append(nil, i%3), Value: []byte(value(i))})
			require.NoError(t, err)
		}
	}
	put(l)
	result, err := m.Compact(ctx, "c-0", compact.Options{})
	require.NoError(t, err)
	require.Positive(t, result.Dropped)
	first := result.FirstDirty
	require.Positive(t, first)
	require.Equal(t, fmt.Sprintf("0\n1\nc 0 %d\n", first), text(t, mem, "data/cleaner-offset-checkpoint"))
	require.NoError(t, m.Close())

	m = manage(t, "data", onMem(mem))
	result, err = m.Compact(ctx, "c-0", compact.Options{})
	require.NoError(t, err)
	require.Equal(t, first, result.Plan.FirstDirty)
	put(logOf(t, m, "c-0"))
	result, err = m.Compact(ctx, "c-0", compact.Options{})
	require.NoError(t, err)
	require.Greater(t, result.FirstDirty, first)

	require.NoError(t, m.Delete("c-0"))
	require.Equal(t, "0\n0\n", text(t, mem, "data/cleaner-offset-checkpoint"))
	_, err = m.Compact(ctx, "c-0", compact.Options{})
	require.ErrorIs(t, err, log.ErrNoPartition)
}
