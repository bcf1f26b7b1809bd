package log_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// TestDeleteDelay: files of what was dropped, snapshots of producers included,
// stay for the delay under the names that Kafka gives them.
func TestDeleteDelay(t *testing.T) {
	setup := func() (*log.Log, *vfs.Faulty, *vfs.Mem, *clock) {
		o, c := small(), newClock()
		c.option(&o)
		o.DeleteDelay = time.Minute
		l, faulty, mem := inMem(t, o)
		send(t, l, 7, 0, 0, 1)
		fill(t, l, 5)
		require.NoError(t, l.Checkpoint(ctx))
		fill(t, l, 10)
		require.NoError(t, l.DropBefore(12))
		return l, faulty, mem, c
	}
	deleted := func(fsys vfs.FS) []string {
		return slices.DeleteFunc(names(t, fsys, "log"), func(s string) bool { return !strings.HasSuffix(s, ".deleted") })
	}
	l, faulty, _, c := setup()
	require.NotEmpty(t, deleted(faulty))
	require.Contains(t, deleted(faulty), "00000000000000000000.log.deleted")
	require.Contains(t, deleted(faulty), "00000000000000000000.index.deleted")
	for _, name := range names(t, faulty, "log") {
		require.False(t, strings.HasPrefix(name, "00000000000000000000.") && !strings.HasSuffix(name, ".deleted"), name)
	}
	wantValues(t, l)
	c.add(time.Minute - time.Millisecond)
	_, err := l.Retain(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, deleted(faulty))
	c.add(time.Millisecond)
	_, err = l.Retain(ctx)
	require.NoError(t, err)
	require.Empty(t, deleted(faulty))

	t.Run("Close", func(t *testing.T) {
		l, faulty, mem, _ := setup()
		require.NotEmpty(t, deleted(faulty))
		closeLog(t, l)
		require.Empty(t, deleted(mem))
	})
	t.Run("Open", func(t *testing.T) {
		_, faulty, mem, _ := setup()
		require.NotEmpty(t, deleted(faulty))
		after := mem.Kill()
		o := small()
		o.Env.FS = after
		l := open(t, "log", o)
		require.Empty(t, deleted(after))
		require.EqualValues(t, 12, l.First())
		wantValues(t, l)
	})
	t.Run("a file cannot be unlinked", func(t *testing.T) {
		l, faulty, _, c := setup()
		faulty.Add(vfs.Rule{Op: vfs.OpRemove, Path: "*.log.deleted", Err: syscall.EPERM})
		c.add(time.Minute)
		for range 2 {
			_, err := l.Retain(ctx)
			require.ErrorIs(t, err, syscall.EPERM)
		}
		faulty.Clear()
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Empty(t, deleted(faulty))
	})
	t.Run("a file cannot be renamed", func(t *testing.T) {
		l, faulty, _, c := setup()
		faulty.Add(vfs.Rule{Op: vfs.OpRename, Path: "*.index.deleted", Err: syscall.EPERM})
		for range 2 {
			require.ErrorIs(t, l.DropBefore(15), syscall.EPERM)
			require.EqualValues(t, 15, l.First())
		}
		wantValues(t, l)
		faulty.Clear()
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		require.NotContains(t, names(t, faulty, "log"), "00000000000000000010.index")
		c.add(time.Minute)
		_, err = l.Retain(ctx)
		require.NoError(t, err)
		require.Empty(t, deleted(faulty))
	})
	t.Run("the disk is full", func(t *testing.T) {
		l, faulty, _, _ := setup()
		fill(t, l, 5)
		require.NoError(t, l.Sync(ctx))
		faulty.Add(vfs.Rule{Op: vfs.OpWriteAt, Path: "seglog.checkpoint.tmp", Count: 1, Err: syscall.ENOSPC})
		require.NoError(t, l.DropBefore(l.End()))
		require.Empty(t, deleted(faulty), "room is what is wanted")
	})
	t.Run("the log starts anew", func(t *testing.T) {
		l, faulty, _, c := setup()
		require.NoError(t, l.DropAll(0))
		fill(t, l, 7)
		c.add(time.Minute)
		_, err := l.Retain(ctx)
		require.NoError(t, err)
		require.Empty(t, deleted(faulty))
		wantValues(t, l)
		require.EqualValues(t, 7, l.End())
	})
}
