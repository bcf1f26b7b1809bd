package log_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
)

// TestManagerCrashes: the power is cut at every change of the file system that
// creating, deleting, checkpointing and closing make. Then what was durable is
// there, a partition is there or deleted and never half, and where the mark of
// a clean shutdown is, all logs are as their recovery points say.
func TestManagerCrashes(t *testing.T) {
	for nth := 0; ; nth++ {
		mem := vfs.NewMem()
		faulty := vfs.NewFaulty(mem)
		o := onMem(faulty)
		m := manage(t, "data", o)
		create(t, m, "a-0", 7)
		create(t, m, "b-0", 7)
		require.NoError(t, m.Checkpoint(ctx))
		rule := faulty.Add(vfs.Rule{Op: vfs.ChangeOp, After: nth, Err: vfs.ErrCrashed}) // all from here on
		if l, err := m.Create(ctx, "c-0", log.TopicID{}); err == nil {
			_, _ = l.Append(rec(value(0)))
		}
		_ = m.Delete("b-0")
		_ = m.Close()
		if rule.Failed() == 0 {
			require.Greater(t, nth, 20)
			return
		}
		after := mem.Crash(uint64(nth))
		points, err := kafkadir.ReadOffsets(after, "data", kafkadir.RecoveryPointFile)
		require.NoError(t, err)
		m = manage(t, "data", onMem(after))
		require.Equal(t, int64(7), logOf(t, m, "a-0").End())
		for _, p := range m.Partitions() {
			require.NoError(t, p.Err)
			if p.Log == nil {
				require.Equal(t, "b 0 deleted", fmt.Sprintf("%s %d %s", p.Topic, p.Number, p.State))
				continue
			}
			wantValues(t, p.Log)
			if m.Found().Clean {
				require.Equal(t, points[p.Name], p.Log.End(), p.Name)
				require.True(t, p.Log.Recovery().Clean, p.Name)
			}
		}
		require.NoError(t, m.Close())
	}
}

// TestPitfallW6ManagerStopped: a context that ends stops the opening; what was
// opened until then is closed cleanly, so that trying again comes further.
func TestPitfallW6ManagerStopped(t *testing.T) {
	mem := foreignData(t)
	done, cancel := context.WithCancel(ctx)
	o := onMem(mem)
	o.Parallel = 1
	opened := 0
	o.Log.Trace.Recovered = func(*recovery.Report) {
		opened++
		cancel()
	}
	_, err := log.OpenManager(done, "data", o)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, opened)
	o.Log.Trace.Recovered = nil
	m := manage(t, "data", o)
	clean := 0
	for _, l := range m.Logs() {
		if l.Recovery().Clean {
			clean++
		}
	}
	require.Equal(t, 1, clean)
}

// TestManagerClosesFailedLogs: a log that has failed is not closed cleanly, and a
// broker is not told that it was; the others are.
func TestManagerClosesFailedLogs(t *testing.T) {
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	m := manage(t, "data", onMem(faulty))
	create(t, m, "a-0", 3)
	b := create(t, m, "b-0", 3)
	rule := faulty.Add(vfs.Rule{Op: vfs.OpSync, Path: "*.log", Count: 1, Err: syscall.EIO})
	require.ErrorIs(t, b.Sync(ctx), syscall.EIO)
	require.Equal(t, 1, rule.Failed())
	require.NoError(t, m.Close())

	m = manage(t, "data", onMem(mem.Kill()))
	require.False(t, m.Found().Clean)
	require.True(t, logOf(t, m, "a-0").Recovery().Clean)
	require.False(t, logOf(t, m, "b-0").Recovery().Clean)
	require.EqualValues(t, 3, logOf(t, m, "b-0").End())
}

// TestManagerDeletedBeforeAKill: a partition that is found deleted by the next
// Manager, since Delete came as far as to rename it, does not come back.
func TestManagerDeletedBeforeAKill(t *testing.T) {
	mem := vfs.NewMem()
	faulty := vfs.NewFaulty(mem)
	m := manage(t, "data", onMem(faulty))
	create(t, m, "a-0", 3)
	require.NoError(t, m.Checkpoint(ctx))
	rename := faulty.Add(vfs.Rule{Op: vfs.OpRename, Path: "a-0"})
	faulty.Trace = func(vfs.Call) {
		if rename.Matched() > 0 { // the first call behind it
			faulty.Trace = nil
			faulty.Add(vfs.Rule{Err: vfs.ErrCrashed})
		}
	}
	require.Error(t, m.Delete("a-0"))
	mem = mem.Kill()
	m = manage(t, "data", onMem(mem))
	require.Equal(t, []string{"a 0 deleted"}, partitions(m))
	m = manage(t, "data", onMem(mem.Crash(2)))
	require.NotContains(t, partitions(m), "a 0 live")
}
