package recovery_test

import (
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
)

// TestPitfallT4RepairLosesWhatIsBad: whichever batch of whichever segment is bad,
// a repair leaves every other record, and what is appended then.
func TestPitfallT4RepairLosesWhatIsBad(t *testing.T) {
	for state, make := range map[string]func(testing.TB, int) (*vfs.Mem, []log.SegmentInfo){"closed": closed, "foreign": foreign, "killed": killed} {
		whole, infos := make(t, 30)
		require.Greater(t, len(infos), 3)
		end := infos[len(infos)-1].Next
		for s, info := range infos {
			for i := range batches(t, content(t, whole, logName(info.Base))[:info.Bytes]) {
				m := whole.Fork()
				_, lost := flip(s, i)(t, m, infos)
				want := slices.DeleteFunc(span(0, end), func(o int64) bool { return o >= lost[0] && o < lost[1] })
				l := mustOpen(t, repairing(options(m)))
				got, damage := readable(t, l)
				require.Empty(t, damage)
				require.Equal(t, want, got, "%s, batch %d of segment %d", state, i, s)
				more := l.End()
				appendBatch(t, l, 2)
				require.NoError(t, l.Close())
				l = mustOpen(t, options(m))
				require.Empty(t, l.Recovery().Actions)
				got, _ = readable(t, l)
				require.Equal(t, append(want, more, more+1), got)
				require.NoError(t, l.Close())
			}
		}
	}
}

// removed is a log of which somebody removed a segment's .log by hand.
func removed(t *testing.T, s int) (m *vfs.Mem, infos []log.SegmentInfo) {
	t.Helper()
	m, infos = closed(t, 30)
	require.Greater(t, len(infos), 4)
	vanish(s)(t, m, infos)
	return m, infos
}

// TestPitfallM9MissingSegmentIsOneError: of a segment in the middle that is gone
// there is one error, by whoever opens or reads the log; nothing goes round and
// round, creates files, or fills the Logger.
func TestPitfallM9MissingSegmentIsOneError(t *testing.T) {
	m, infos := removed(t, 2)
	before := files(t, m)
	f := vfs.NewFaulty(m)
	lines := 0
	o := options(f)
	o.Logger = slog.New(slog.NewTextHandler(writer(func([]byte) { lines++ }), nil))
	for range 3 {
		_, err := log.Open(t.Context(), dir, o)
		var d *log.DamageError
		require.ErrorAs(t, err, &d)
		require.Equal(t, [2]int64{infos[2].Base, infos[2].Next}, [2]int64{d.Offset, d.Next})
		require.Contains(t, err.Error(), logName(infos[2].Base))
		require.Contains(t, err.Error(), "the file is missing")
	}
	require.Equal(t, before, files(t, m))
	require.Empty(t, f.InUse())
	require.Less(t, f.Calls(vfs.AnyOp), 3*10*len(infos))
	require.LessOrEqual(t, lines, 3)
	l := mustOpen(t, reading(o))
	for range 3 {
		_, damage := readable(t, l)
		require.Len(t, damage, 1)
	}
	require.NoError(t, l.Close())
	require.LessOrEqual(t, lines, 6)
}

type writer func(line []byte)

func (f writer) Write(line []byte) (int, error) {
	f(line)
	return len(line), nil
}

// TestPitfallR5SegmentRemovedByHand: a gap where a segment was is reported and
// read around, on both sides; a repair opens the log, without giving the offsets
// again. Where it was the oldest ones the log begins behind them.
func TestPitfallR5SegmentRemovedByHand(t *testing.T) {
	for s := range 5 {
		m, infos := removed(t, s)
		end := infos[len(infos)-1].Next
		want := slices.DeleteFunc(span(0, end), func(o int64) bool { return o >= infos[s].Base && o < infos[s].Next })
		r := inspect(t, m, recovery.Options{})
		if s == 0 {
			require.Empty(t, r.Damage)
			require.Equal(t, infos[1].Base, r.LogStart)
		} else {
			require.Len(t, r.Damage, 1, "segment %d", s)
			require.Equal(t, infos[s].Base, r.Damage[0].Segment)
		}
		l := mustOpen(t, reading(options(m)))
		got, damage := readable(t, l)
		require.Equal(t, want, got, "segment %d", s)
		require.Len(t, damage, min(s, 1))
		require.NoError(t, l.Close())

		_, err := log.Open(t.Context(), dir, options(m.Fork()))
		var d *log.DamageError
		require.Equal(t, s > 0, errors.As(err, &d), "segment %d: %v", s, err)
		l = mustOpen(t, repairing(options(m)))
		got, damage = readable(t, l)
		require.Equal(t, want, got)
		require.Empty(t, damage)
		require.Equal(t, end, l.End())
		appendBatch(t, l, 1)
		require.NoError(t, l.Close())
		l = mustOpen(t, options(m))
		require.Empty(t, l.Recovery().Actions)
		got, _ = readable(t, l)
		require.Equal(t, append(want, end), got)
		require.NoError(t, l.Close())
	}
}
