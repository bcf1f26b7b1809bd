package log_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/recovery"
)

// TestIndexOfASealedSegmentWithoutEntries: an index that has no entry and never
// had any is not taken for one that had no room: when the process was killed its
// file was as long as it was allocated, and that is not noted.
func TestIndexOfASealedSegmentWithoutEntries(t *testing.T) {
	mem := vfs.NewMem()
	o := small()
	o.IndexInterval = 400
	l := open(t, "log", on(o, mem))
	_, err := l.Append(rec(strings.Repeat("a", 800)))
	require.NoError(t, err)
	require.NoError(t, l.Checkpoint(ctx))
	mem = mem.Crash(1)
	l = open(t, "log", on(o, mem))
	_, err = l.Append(rec(strings.Repeat("b", 800)))
	require.NoError(t, err)
	require.Len(t, l.Segments(), 2)
	for range 2 {
		mem = mem.Kill()
		l = open(t, "log", on(o, mem))
		for _, a := range l.Recovery().Actions {
			require.NotEqual(t, recovery.Reindex, a.Kind, "%v", a)
		}
	}
}
