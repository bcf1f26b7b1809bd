package recovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

// brokerNotes has a broker note how far it compacted the log.
func brokerNotes(t *testing.T, m *vfs.Mem, offset int64) {
	t.Helper()
	name := filepath.Join(filepath.Dir(dir), "cleaner-offset-checkpoint")
	_ = m.Remove(name)
	require.NoError(t, vfs.WriteFile(m, name, fmt.Appendf(nil, "0\n1\nt 0 %d\n", offset)))
}

// compactedElsewhere is a log that was closed after 20 batches and given to a
// broker, which appended as many, joined its sealed segments by twos, left out
// the second batch of each, and all of one; with the offsets that are left, and
// how far that went.
func compactedElsewhere(t *testing.T) (m *vfs.Mem, left []int64, upTo int64) {
	t.Helper()
	m, _ = closed(t, 20)
	checkpoint := content(t, m, recovery.CheckpointName)
	l := mustOpen(t, options(m))
	fill(t, l, 20)
	infos := l.Segments()
	left = span(0, l.End())
	require.NoError(t, l.Close())
	m = m.Kill()
	put(t, m, recovery.CheckpointName, checkpoint)

	sealed := infos[:len(infos)-1]
	require.Greater(t, len(sealed), 5)
	var joined []byte
	for i, s := range sealed {
		raw := content(t, m, logName(s.Base))
		for j, b := range batches(t, raw[:s.Bytes]) {
			if j == 1 || i == 3 {
				left = without(left, b.base, b.end)
			} else {
				joined = append(joined, raw[b.from:b.to]...)
			}
		}
		for _, suffix := range []string{segment.LogSuffix, segment.IndexSuffix, segment.TimeIndexSuffix} {
			remove(t, m, segment.Name(s.Base, suffix))
		}
		if i%2 == 1 || i == len(sealed)-1 {
			put(t, m, logName(sealed[i/2*2].Base), joined)
			joined = nil
		}
	}
	return m, left, infos[len(infos)-1].Base
}

// TestCompactedByABroker: files that are fewer and shorter than the checkpoint
// has them are no damage where a broker notes that it has compacted the log
// since; and it is only once that it says so.
func TestCompactedByABroker(t *testing.T) {
	m, left, upTo := compactedElsewhere(t)
	brokerNotes(t, m, upTo)
	v, err := log.Verify(t.Context(), dir, options(m), nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Contains(t, v.Notes[0], fmt.Sprintf("another program has compacted the log since, up to offset %d", upTo))
	m = recovers(t, m, options(m), left)

	infos := mustOpen(t, reading(options(m))).Segments()
	remove(t, m, logName(infos[1].Base)) // from now on what is missing is missing
	_, err = log.Open(t.Context(), dir, options(m))
	var damage *log.DamageError
	require.ErrorAs(t, err, &damage)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestNotCompactedByABroker: without that note it is damage.
func TestNotCompactedByABroker(t *testing.T) {
	for _, noted := range []int64{-1, 0} {
		m, _, _ := compactedElsewhere(t)
		if noted >= 0 {
			brokerNotes(t, m, noted)
		}
		_, err := log.Open(t.Context(), dir, options(m))
		var damage *log.DamageError
		require.ErrorAs(t, err, &damage)
	}
}

// TestCompactedByABrokerKeepsTheLogStart: what was dropped before the log was
// given away stays dropped.
func TestCompactedByABrokerKeepsTheLogStart(t *testing.T) {
	m, left, upTo := compactedElsewhere(t)
	c, err := recovery.ReadCheckpoint(m, dir)
	require.NoError(t, err)
	c.LogStart = 5
	require.NoError(t, recovery.WriteCheckpoint(m, dir, c))
	brokerNotes(t, m, upTo)
	recovers(t, m, options(m), without(left, 0, 5))
}
