package main

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/retention/compact"
)

// TestRun: the whole of it with few keys, compressed and not, and nothing is
// left behind.
func TestRun(t *testing.T) {
	for _, codec := range []string{"none", "lz4"} {
		dir := t.TempDir()
		require.NoError(t, run(t.Context(), 20_000, "2KiB", "128KiB", 50, codec, dir))
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
}

// TestOrder: each key comes once, and its number is known.
func TestOrder(t *testing.T) {
	for _, keys := range []int64{4, 1000, 15_485_863} {
		for _, factor := range []int64{15_485_863, 32_452_843} {
			o, seen := newOrder(keys, factor), make(map[int64]bool)
			for n := range min(keys, 2000) {
				key := o.key(n)
				require.False(t, seen[key])
				require.Less(t, key, keys)
				require.Equal(t, n, o.number(key))
				seen[key] = true
			}
		}
	}
}

// TestCheckFinds: a log that was not compacted, or lost a key, does not pass.
func TestCheckFinds(t *testing.T) {
	c := config{keys: 4000, batch: 10}
	l, err := log.Open(t.Context(), t.TempDir(), log.Options{SegmentBytes: 64 << 10, Compaction: &compact.Options{}})
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, c.write(t.Context(), l))
	require.ErrorContains(t, c.check(context.Background(), l), "the newest is at")
	_, err = l.Compact(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.check(context.Background(), l))
	require.NoError(t, l.DropBefore(l.Segments()[1].Base))
	require.ErrorContains(t, c.check(context.Background(), l), "keys are left of 4000")
}
