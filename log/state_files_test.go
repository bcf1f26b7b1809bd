package log_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
