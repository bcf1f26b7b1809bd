package log_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// noteFiles are those in which a directory notes something of each partition.
var noteFiles = []string{kafkadir.RecoveryPointFile, kafkadir.HighWatermarkFile, kafkadir.LogStartFile, kafkadir.CleanerFile}

// withNotes is a manager with a partition a-0 of which all four files say something,
// and b-0.
func withNotes(t testing.TB, fsys vfs.FS) *log.Manager {
	t.Helper()
	m := manage(t, "data", compactedOnMem(fsys))
	l := create(t, m, "b-0", 0)
	put(t, l, keyed("k", "v"))
	l = create(t, m, "a-0", 0)
	putKeys(t, l, 20)
	_, err := m.Compact(ctx, "a-0")
	require.NoError(t, err)
	require.NoError(t, l.DropBefore(7))
	require.NoError(t, m.Checkpoint(ctx))
	for _, name := range noteFiles {
		require.Contains(t, text(t, fsys, "data/"+name), "a 0 ", name)
	}
	return m
}

// TestManagerDeleteWritesNoNotes: to delete many partitions takes no longer for
// each that there is.
func TestManagerDeleteWritesNoNotes(t *testing.T) {
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	m := withNotes(t, faulty)
	var written []string
	faulty.Trace = func(c vfs.Call) {
		if c.Op == vfs.OpRename && slices.Contains(noteFiles, filepath.Base(c.NewName)) {
			written = append(written, c.NewName)
		}
	}
	require.NoError(t, m.Delete("a-0"))
	require.Empty(t, written)
	require.NoError(t, m.Checkpoint(ctx))
	require.Len(t, written, 4)
	for _, name := range noteFiles {
		require.NotContains(t, text(t, mem, "data/"+name), "a 0 ", name)
	}
}

// TestManagerCreatedAgain: a partition of a name that there was before is never
// taken for the earlier one, whenever a kill or a power cut comes between the
// deletion and its first checkpoint, and whatever became of the notes meanwhile.
func TestManagerCreatedAgain(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, m *log.Manager, faulty *vfs.Faulty){
		"deleted": func(t *testing.T, m *log.Manager, _ *vfs.Faulty) { require.NoError(t, m.Delete("a-0")) },
		// The notes were written, and it is not known whether durably.
		"in doubt": func(t *testing.T, m *log.Manager, faulty *vfs.Faulty) {
			require.NoError(t, m.Delete("a-0"))
			l := create(t, m, "a-0", 0)
			putKeys(t, l, 20)
			_, err := l.Compact(ctx)
			require.NoError(t, err)
			require.NoError(t, l.DropBefore(7))
			faulty.Add(vfs.Rule{Op: vfs.OpSyncDir, Path: "data", Err: syscall.EIO})
			require.ErrorIs(t, m.Checkpoint(ctx), syscall.EIO)
			faulty.Clear()
			require.NoError(t, m.Delete("a-0"))
		},
		// A future copy of the same name keeps the notes, which are its own.
		"beside a future copy": func(t *testing.T, m *log.Manager, faulty *vfs.Faulty) {
			require.NoError(t, m.Delete("a-0"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			built := vfs.NewMem()
			m := withNotes(t, built)
			if name == "beside a future copy" {
				require.NoError(t, m.Close())
				future := "data/a-0." + strings.Repeat("0f", 16) + "-future"
				require.NoError(t, vfs.MkdirAll(built, future, 0o755))
				require.NoError(t, built.SyncDir("data"))
			}
			stops := map[string]func(*vfs.Mem) *vfs.Mem{"kill": (*vfs.Mem).Kill}
			for seed := range uint64(2) {
				stops[fmt.Sprint("power", seed)] = func(m *vfs.Mem) *vfs.Mem { return m.Crash(seed) }
			}
			base := built.Fork().Kill()
			for how, stop := range stops {
				again := 0
				var last *vfs.Mem
				for nth, done := 0, false; !done; nth++ {
					mem := base.Fork()
					faulty := vfs.NewFaulty(mem)
					m := manage(t, "data", compactedOnMem(faulty))
					prepare(t, m, faulty)
					var stopped *vfs.Mem
					calls := 0
					var counting sync.Mutex // Close closes logs at the same time
					faulty.Trace = func(c vfs.Call) {
						if c.Op&vfs.ChangeOp == 0 {
							return
						}
						counting.Lock()
						defer counting.Unlock()
						if calls++; calls > nth && stopped == nil {
							stopped = stop(mem)
						}
					}
					l, err := m.Create(ctx, "a-0", log.TopicID{1})
					for i := range 12 {
						if err == nil {
							_, err = l.Append(keyed(fmt.Sprint("new", i), "v"))
						}
					}
					if done = stopped == nil; done {
						require.NoError(t, err)
						faulty.Trace = nil
						stopped = stop(mem)
					}
					what := fmt.Sprintf("%s before call %d", how, nth)
					last, m = stopped, manage(t, "data", compactedOnMem(stopped))
					l, err = m.Log("a-0")
					if err != nil {
						require.ErrorIs(t, err, log.ErrNoPartition, what)
						continue
					}
					again++
					require.Zero(t, l.First(), what)
					if done && how == "kill" {
						require.EqualValues(t, 12, l.End(), what)
					}
					plan, err := l.Dirty()
					require.NoError(t, err)
					require.Zero(t, plan.FirstDirty, what)
					for _, file := range noteFiles {
						notes, err := kafkadir.ReadOffsets(stopped, "data", file)
						require.NoError(t, err)
						require.LessOrEqual(t, notes["a-0"], l.End(), "%s: %s", what, file)
					}
				}
				require.Positive(t, again, how)
				last = last.Kill()
				m := manage(t, "data", compactedOnMem(last))
				l := logOf(t, m, "a-0")
				for range 2 {
					putKeys(t, l, 3)
					require.NoError(t, m.Checkpoint(ctx))
					require.Contains(t, text(t, last, "data/"+kafkadir.RecoveryPointFile), fmt.Sprintln("a 0", l.End()))
				}
			}
		})
	}
}
