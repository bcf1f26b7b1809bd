package log_test

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/index"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// Each file that keeps state, missing, empty, cut, with other line ends, full
// of nonsense or of another version: the log opens, with every record and with
// the state that its batches say, and the next open finds the file mended.
func TestStateFilesAreNeverBelievedAgainstTheBatches(t *testing.T) {
	o := small()
	m := vfs.NewMem()
	o.Env.FS = m
	l, err := log.Open(ctx, "log", o)
	require.NoError(t, err)
	for i := range int16(4) {
		sendTxn(t, l, 1, i, 0, 2)
		end(t, l, 1, i+1, i%2 == 0)
		require.NoError(t, l.SetLeaderEpoch(int32(i)+1))
		send(t, l, 2, 0, int32(i), 1)
	}
	want := struct {
		end       int64
		producers []log.ProducerState
		aborted   []log.AbortedTxn
		epochs    []log.EpochEntry
	}{l.End(), l.Producers(), l.Aborted(0, l.End()), l.LeaderEpochs()}
	require.Len(t, want.aborted, 2)
	require.NoError(t, l.Close())

	entries, err := m.ReadDir("log")
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, e := range entries {
		if name := "log/" + e.Name(); strings.HasSuffix(name, ".snapshot") || strings.HasSuffix(name, ".txnindex") ||
			strings.HasSuffix(name, "leader-epoch-checkpoint") {
			files[name], err = vfs.ReadFile(m, name)
			require.NoError(t, err)
		}
	}
	damaged := 0
	for name, sound := range files {
		for kind, content := range map[string][]byte{
			"missing":       nil,
			"empty":         {},
			"cut":           sound[:len(sound)-1],
			"half":          sound[:len(sound)/2],
			"other ends":    []byte(strings.ReplaceAll(string(sound), "\n", "\r\n")),
			"nonsense":      []byte("\x07nonsense\n\n\xff"),
			"other version": append([]byte{9, 9}, sound[2:]...),
			"zeros":         make([]byte, len(sound)),
			"more":          append(sound[:len(sound):len(sound)], 'x'),
		} {
			world := m.Kill()
			if kind == "missing" {
				require.NoError(t, world.Remove(name))
			} else {
				require.NoError(t, vfs.WriteFile(world, name, content))
			}
			o.Env.FS = world
			for range 2 {
				l, err := log.Open(ctx, "log", o)
				require.NoError(t, err, "%s %s", name, kind)
				assert.Equal(t, want.end, l.End(), "%s %s", name, kind)
				assert.Equal(t, want.producers, l.Producers(), "%s %s", name, kind)
				assert.Equal(t, want.aborted, l.Aborted(0, l.End()), "%s %s", name, kind)
				assert.Equal(t, want.epochs, l.LeaderEpochs(), "%s %s", name, kind)
				require.NoError(t, l.Close())
			}
			damaged++
		}
	}
	assert.Greater(t, damaged, 9*3)
}

// A state file that cannot be read now, for want of descriptors say, is neither
// absent nor wrong: opening fails, and what it alone knows is there when it can
// be read again. Here a producer and an epoch whose batches are gone.
func TestUnreadableStateFilesKeepALogFromOpening(t *testing.T) {
	o := small()
	m := vfs.NewMem()
	o.Env.FS = m
	l, err := log.Open(ctx, "log", o)
	require.NoError(t, err)
	require.NoError(t, l.SetLeaderEpoch(1))
	send(t, l, 1, 0, 0, 1)
	require.NoError(t, l.SetLeaderEpoch(2))
	sendTxn(t, l, 2, 0, 0, 1)
	end(t, l, 2, 1, false)
	fill(t, l, 20)
	sendTxn(t, l, 2, 1, 0, 1)
	end(t, l, 2, 2, false)
	require.NoError(t, l.Sync(ctx))
	require.NoError(t, l.DropBefore(15))
	fill(t, l, 3)
	producers, aborted, epochs := l.Producers(), l.Aborted(0, l.End()), l.LeaderEpochs()
	require.Len(t, producers, 2)
	require.Len(t, aborted, 1)
	killed := m.Kill()
	_ = l.Close()

	for _, mode := range []log.Mode{log.ReadWrite, log.ReadOnly} {
		for _, pattern := range []string{"*.snapshot", "*.txnindex", "leader-epoch-checkpoint"} {
			for _, c := range []struct {
				ops   vfs.Op
				err   error
				short int
			}{{vfs.OpOpen, syscall.EMFILE, 0}, {vfs.OpSize, syscall.EIO, 0}, {vfs.OpReadAt, syscall.EIO, 5}, {vfs.OpReadAt, io.EOF, 5}} {
				world := killed.Fork()
				f := vfs.NewFaulty(world)
				rule := f.Add(vfs.Rule{Op: c.ops, Path: pattern, Err: c.err, Short: c.short})
				o.Env.FS, o.Mode = f, mode
				_, err := log.Open(ctx, "log", o)
				require.NotZero(t, rule.Failed())
				want := c.err
				if want == io.EOF {
					want = io.ErrUnexpectedEOF
				}
				require.ErrorIs(t, err, want, "%s %s", c.ops, pattern)
				require.Empty(t, f.InUse())
				f.Clear()
				l, err := log.Open(ctx, "log", o)
				require.NoError(t, err)
				require.Equal(t, producers, l.Producers(), "%s %s", c.ops, pattern)
				require.Equal(t, aborted, l.Aborted(0, l.End()))
				require.Equal(t, epochs, l.LeaderEpochs())
				require.NoError(t, l.Close())
			}
		}
	}
}

// A transaction index that could not be written when its transaction was aborted
// is written by the next checkpoint, or the checkpoint fails.
func TestTransactionIndexIsWrittenLater(t *testing.T) {
	for _, op := range []vfs.Op{vfs.OpCreate, vfs.OpSize, vfs.OpWriteAt} {
		l, faulty, mem := inMem(t, small())
		sendTxn(t, l, 1, 0, 0, 1)
		faulty.Add(vfs.Rule{Op: op, Path: "*.txnindex*", Count: 2, Err: syscall.EDQUOT, Short: 7})
		end(t, l, 1, 1, false)
		require.ErrorIs(t, l.Checkpoint(ctx), syscall.EDQUOT)
		require.NoError(t, l.Checkpoint(ctx))
		sendTxn(t, l, 1, 1, 0, 1)
		end(t, l, 1, 2, false)
		want := l.Aborted(0, l.End())
		require.Len(t, want, 2)
		require.NoError(t, l.Close())
		content, err := vfs.ReadFile(mem, "log/00000000000000000000.txnindex")
		require.NoError(t, err)
		got, err := index.DecodeTxns(content, 0)
		require.NoError(t, err)
		require.Equal(t, want, got, "%s", op)
	}
}

// A snapshot beyond the end of a log, which a crash left, is removed before the
// log opens: once the log has grown past it, it would be believed.
func TestStraySnapshotKeepsFromOpening(t *testing.T) {
	l, _, mem := inMem(t, small())
	send(t, l, 1, 0, 0, 1)
	require.NoError(t, l.Checkpoint(ctx))
	snapshot, err := vfs.ReadFile(mem, "log/00000000000000000001.snapshot")
	require.NoError(t, err)
	mem = mem.Kill()
	require.NoError(t, vfs.WriteFile(mem, "log/00000000000000000009.snapshot", snapshot))
	f := vfs.NewFaulty(mem)
	f.Add(vfs.Rule{Op: vfs.OpRemove, Path: "*9.snapshot", Count: 1, Err: syscall.EIO})
	o := small()
	o.Env.FS = f
	_, err = log.Open(ctx, "log", o)
	require.ErrorIs(t, err, syscall.EIO)
	l, err = log.Open(ctx, "log", o)
	require.NoError(t, err)
	require.NotContains(t, names(t, mem, "log"), "00000000000000000009.snapshot")
	require.NoError(t, l.Close())
}
