package log_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
)

// TestDirectoryOfAKilledProcess: a directory without a checkpoint may be one whose
// maker was killed before its name was durable, and is made so before anything in
// it is called that. With a checkpoint there is nothing to do.
func TestDirectoryOfAKilledProcess(t *testing.T) {
	mem := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(mem, "topics/log", 0o755))
	faulty := vfs.NewFaulty(mem)
	synced := 0
	faulty.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpSyncDir && c.Name == "topics" {
			synced++
		}
	}
	l := open(t, "topics/log", on(small(), faulty))
	require.Equal(t, 1, synced)
	fill(t, l, 3)
	require.NoError(t, l.Sync(ctx))
	faulty = vfs.NewFaulty(mem.Kill())
	rule := faulty.Add(vfs.Rule{Op: vfs.OpSyncDir, Path: "topics"})
	open(t, "topics/log", on(small(), faulty))
	require.Zero(t, rule.Matched())
}
