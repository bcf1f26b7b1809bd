package log_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/kafkadir"
	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// noted is what the files of a manager's directory say of a partition.
func noted(t testing.TB, fsys vfs.FS, name string) (recoveryPoint, logStart, cleaned int64) {
	t.Helper()
	var notes []int64
	for _, file := range []string{kafkadir.RecoveryPointFile, kafkadir.LogStartFile, kafkadir.CleanerFile} {
		o, err := kafkadir.ReadOffsets(fsys, "data", file)
		require.NoError(t, err)
		notes = append(notes, o[name])
	}
	return notes[0], notes[1], notes[2]
}

// TestManagerDropAllBelowTheNotedStart: a log starts where DropAll lets it start,
// though the file of log starts said that it starts higher. The power is cut at
// every change that DropAll makes, and behind it.
func TestManagerDropAllBelowTheNotedStart(t *testing.T) {
	for nth := 0; ; nth++ {
		mem := vfs.NewMem()
		faulty := vfs.NewFaulty(mem)
		m := manage(t, "data", onMem(faulty))
		l := create(t, m, "a-0", 20)
		require.NoError(t, l.DropBefore(17))
		require.NoError(t, m.Checkpoint(ctx))
		_, start, _ := noted(t, mem, "a-0")
		require.EqualValues(t, 17, start)
		rule := faulty.Add(vfs.Rule{Op: vfs.ChangeOp, After: nth, Err: vfs.ErrCrashed})
		err := l.DropAll(2)
		faulty.Clear()
		if err == nil {
			fill(t, l, 30)
			require.NoError(t, l.Sync(ctx))
		}
		after := mem.Crash(uint64(nth))
		m = manage(t, "data", onMem(after))
		l = logOf(t, m, "a-0")
		switch got := [2]int64{l.First(), l.End()}; {
		case err == nil:
			require.Equal(t, [2]int64{2, 32}, got)
		default:
			require.Contains(t, [][2]int64{{17, 20}, {2, 2}}, got)
		}
		wantValues(t, l)
		if rule.Failed() == 0 {
			require.Greater(t, nth, 8)
			return
		}
	}
}

// TestManagerNotesOfACutLog: below a recovery point a broker verifies nothing, and
// below what the cleaner's file says it compacts nothing: neither is ever above
// the end of a log that is being cut. The power is cut at every change.
func TestManagerNotesOfACutLog(t *testing.T) {
	for what, do := range map[string]func(l *log.Log) error{
		"DropFrom": func(l *log.Log) error { return l.DropFrom(7) },
		"DropAll":  func(l *log.Log) error { return l.DropAll(7) },
	} {
		for nth := 0; ; nth++ {
			mem := vfs.NewMem()
			faulty := vfs.NewFaulty(mem)
			m := manage(t, "data", compactedOnMem(faulty))
			l, err := m.Create(ctx, "a-0", log.TopicID{1})
			require.NoError(t, err)
			putKeys(t, l, 40)
			_, err = m.Compact(ctx, "a-0")
			require.NoError(t, err)
			require.NoError(t, m.Checkpoint(ctx))
			point, _, cleaned := noted(t, mem, "a-0")
			require.EqualValues(t, 40, point)
			require.Greater(t, cleaned, int64(7))
			rule := faulty.Add(vfs.Rule{Op: vfs.ChangeOp, After: nth, Err: vfs.ErrCrashed})
			err = do(l)
			faulty.Clear()
			mem = mem.Crash(uint64(nth))
			point, _, cleaned = noted(t, mem, "a-0")
			end := int64(7)
			if err != nil {
				end = logOf(t, manage(t, "data", compactedOnMem(mem)), "a-0").End()
			}
			require.LessOrEqual(t, point, end, "%s, call %d", what, nth)
			require.LessOrEqual(t, cleaned, end, "%s, call %d", what, nth)
			if rule.Failed() == 0 {
				require.Greater(t, nth, 8)
				break
			}
		}
	}
}

// TestManagerNotesOfALogCutInOpening: nor where a follower without epochs cuts
// itself to its high watermark when it is opened.
func TestManagerNotesOfALogCutInOpening(t *testing.T) {
	mem := vfs.NewMem()
	o := onMem(mem)
	o.Log.Mode = log.Follower
	m := manage(t, "data", o)
	l, err := m.Create(ctx, "a-0", log.TopicID{1})
	require.NoError(t, err)
	for at := range int64(20) {
		_, err := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: at, LeaderEpoch: -1}, rec(value(int(at)))), log.FromLeader)
		require.NoError(t, err)
	}
	require.NoError(t, l.SetHighWatermark(7))
	require.NoError(t, m.Close())
	point, _, _ := noted(t, mem, "a-0")
	require.EqualValues(t, 20, point)

	m = manage(t, "data", o)
	require.EqualValues(t, 7, logOf(t, m, "a-0").End())
	point, _, _ = noted(t, mem, "a-0")
	require.EqualValues(t, 7, point)
}
