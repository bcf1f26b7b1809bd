package log

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention/compact"
)

// TestAppendedSince: what upkeep counts is what was appended, whatever rolls,
// drops and compactions came in between; of a log that was cut it may be more.
func TestAppendedSince(t *testing.T) {
	ctx := context.Background()
	l, err := Open(ctx, "log", Options{SegmentBytes: 1 << 10, Compaction: &compact.Options{}, Env: Env{FS: vfs.NewMem()}})
	require.NoError(t, err)
	defer l.Close()
	then := l.reached()
	appended := int64(0)
	add := func(n int) {
		for range n {
			_, err := l.Append(record.Record{Key: []byte("k"), Value: fmt.Appendf(nil, "%101d", appended)})
			require.NoError(t, err)
			appended += 172
		}
		require.Equal(t, appended, l.appendedSince(then))
	}
	require.Zero(t, l.appendedSince(then))
	add(3)
	add(20)
	then, appended = l.reached(), 0
	add(0)
	add(2)
	require.NoError(t, l.DropBefore(then.base))
	add(10)
	require.NoError(t, l.DropBefore(l.Segments()[2].Base), "the segment it was in")
	appended = 0
	for _, s := range l.Segments() {
		appended += s.Bytes
	}
	add(9)

	then, appended = l.reached(), 0
	add(1)
	bytes := l.Stats().Bytes
	_, err = l.Compact(ctx)
	require.NoError(t, err)
	require.Less(t, l.Stats().Bytes, bytes)
	add(3)

	// The segment it was in is compacted: what it held then was durable.
	add(20)
	_, err = l.Compact(ctx)
	require.NoError(t, err)
	active := l.Segments()[len(l.Segments())-1].Bytes
	require.GreaterOrEqual(t, l.appendedSince(then), active)
	require.LessOrEqual(t, l.appendedSince(then), appended)

	then = l.reached()
	require.NoError(t, l.DropAll(0))
	_, err = l.Append(record.Record{Key: []byte("k")})
	require.NoError(t, err)
	require.Positive(t, l.appendedSince(then))
}
