package log_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

const epochsFile = "log/leader-epoch-checkpoint"

// led is a log closed in the epoch of a leader who has written nothing of what is
// there, by name.
func led(t testing.TB) map[string]*vfs.Mem {
	t.Helper()
	all := make(map[string]*vfs.Mem)
	for name, before := range map[string]func(l *log.Log){
		"empty":    func(*log.Log) {},
		"behind":   func(l *log.Log) { require.NoError(t, l.SetLeaderEpoch(2)); fill(t, l, 3) },
		"emptied":  func(l *log.Log) { fill(t, l, 3); require.NoError(t, l.DropBefore(3)) },
		"producer": func(l *log.Log) { send(t, l, 7, 0, 0, 2) },
	} {
		l, _, mem := inMem(t, small())
		before(l)
		require.NoError(t, l.SetLeaderEpoch(5), name)
		closeLog(t, l)
		all[name] = mem.Kill()
	}
	return all
}

// TestEpochOfWhoWroteNothing: a log that was closed is still led in the epoch it
// was led in, and to open and close it again writes nothing. After a kill no batch
// bears the epoch out, and it is given up.
func TestEpochOfWhoWroteNothing(t *testing.T) {
	for name, mem := range led(t) {
		want := text(t, mem, epochsFile)
		for range 2 {
			faulty := vfs.NewFaulty(mem)
			rule := faulty.Add(vfs.Rule{Op: vfs.OpSync | vfs.OpSyncDir | vfs.OpRename})
			l, err := log.Open(ctx, "log", on(small(), faulty))
			require.NoError(t, err)
			require.True(t, l.Recovery().Clean, name)
			require.EqualValues(t, 5, l.LeaderEpoch(), name)
			known, end, ok := l.EndOffsetForEpoch(5)
			require.True(t, ok, name)
			require.EqualValues(t, 5, known, name)
			require.Equal(t, l.End(), end, name)
			closeLog(t, l)
			require.Zero(t, rule.Matched(), name)
			require.Equal(t, want, text(t, mem, epochsFile), name)
		}
		o := on(small(), mem)
		o.Mode = log.ReadOnly
		l := open(t, "log", o)
		require.EqualValues(t, 5, l.LeaderEpoch(), name)
		closeLog(t, l)

		l = open(t, "log", on(small(), mem))
		require.NoError(t, l.SetLeaderEpoch(6))
		killed := mem.Kill()
		l = open(t, "log", on(small(), killed))
		require.Less(t, l.LeaderEpoch(), int32(6), name)
		closeLog(t, l)
	}
}

// TestEpochOfWhoWroteNothingLosesABit: no batch says otherwise, but the checkpoint
// does.
func TestEpochOfWhoWroteNothingLosesABit(t *testing.T) {
	for name, mem := range led(t) {
		sound := text(t, mem, epochsFile)
		l := open(t, "log", on(small(), mem.Fork()))
		want := l.LeaderEpochs()
		closeLog(t, l)
		without := append([]log.EpochEntry(nil), want[:len(want)-1]...)
		for bit := range len(sound) * 8 {
			world := mem.Fork()
			flipBit(t, world, epochsFile, bit)
			l := open(t, "log", on(small(), world))
			require.Contains(t, [][]log.EpochEntry{want, without}, l.LeaderEpochs(), "%s, bit %d", name, bit)
			closeLog(t, l)
		}
	}
}
