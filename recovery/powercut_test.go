package recovery_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/segment"
)

// verified wants Verify to find nothing.
func verified(t testing.TB, m vfs.FS, o log.Options, why string) {
	t.Helper()
	o.Env.FS = m
	v, err := log.Verify(t.Context(), dir, o, nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults, why)
}

// long are options with time entries in the middle of a segment.
func long(fsys vfs.FS) log.Options {
	return log.Options{SegmentBytes: 64 << 10, IndexInterval: 100, Env: log.Env{FS: fsys}}
}

// A time index entry is stored in two steps, its time and its offset. One that
// was caught between them can be true of other batches, and is not believed.
func TestTimeEntryTornBetweenItsStores(t *testing.T) {
	m := vfs.NewMem()
	l := mustOpen(t, long(m))
	for len(content(t, m, segment.Name(0, segment.TimeIndexSuffix))) == 0 || l.Segments()[0].Bytes < 12<<10 {
		appendBatch(t, l, 3)
	}
	require.NoError(t, l.Checkpoint(t.Context()))
	m = m.Kill()
	name := segment.Name(0, segment.TimeIndexSuffix)
	whole := content(t, m, name)
	require.NotEmpty(t, whole[:12])
	for _, damage := range map[string]func(b []byte){
		"the offset is missing":         func(b []byte) { clear(b[8:]) },
		"the offset of the second, too": func(b []byte) { clear(b[8:12]); clear(b[20:]) },
	} {
		b := append([]byte(nil), whole...)
		damage(b)
		c := copyOf(t, m)
		put(t, c, name, b)
		l := mustOpen(t, long(c))
		lookups(t, l)
		require.NoError(t, l.Close())
		verified(t, c, long(c), "after a close")
	}
}

// Index entries of batches that are gone are cleared when a log is opened. They
// must not be there again after a power cut, when other batches are in the place
// of those: neither if the open that cleared them was killed.
func TestStaleIndexEntriesDoNotComeBack(t *testing.T) {
	m := vfs.NewMem()
	l := mustOpen(t, long(m))
	fill(t, l, 4)
	require.NoError(t, l.Checkpoint(t.Context()))
	size, end := l.Segments()[0].Bytes, l.End()
	m = m.Kill()
	name := segment.Name(0, segment.IndexSuffix)
	b := content(t, m, name)
	entries := lastNonZeroEntry(b)
	copy(b[entries:], []byte{0, 0, 0, byte(end), 0, 0, byte(size >> 8), byte(size)}) // of a batch that ended at end
	put(t, m, name, b)

	for kill := 0; ; kill++ {
		c := copyOf(t, m)
		killed := c
		stores := 0
		c.OnStore = func(vfs.Store) {
			if stores++; stores == kill {
				killed = c.Kill()
			}
		}
		l := mustOpenOrDie(t, long(c))
		if kill > 0 && killed == c {
			break
		}
		if killed != c {
			l = mustOpen(t, long(killed))
		}
		require.Equal(t, end, l.End())
		appendBatch(t, l, 3) // ends at another offset
		fill(t, l, 3)
		require.NoError(t, l.Checkpoint(t.Context()))
		for seed := range uint64(12) {
			w := killed.Fork().Crash(seed)
			l := mustOpen(t, long(w))
			lookups(t, l)
			require.NoError(t, l.Close())
			verified(t, w, long(w), fmt.Sprintf("killed at store %d, power cut %d", kill, seed))
		}
	}
}

func mustOpenOrDie(t testing.TB, o log.Options) *log.Log {
	l, err := log.Open(t.Context(), dir, o)
	if err != nil {
		require.ErrorIs(t, err, vfs.ErrCrashed)
	}
	return l
}

func lastNonZeroEntry(b []byte) int {
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return (n + 7) / 8 * 8
}

// What a checkpoint says of the indexes of the segment that was active then says
// nothing of them once it is sealed, be they as long.
func TestIndexesSealedSinceTheCheckpoint(t *testing.T) {
	m, infos := closed(t, 2)
	require.Len(t, infos, 1)
	name := segment.Name(0, segment.TimeIndexSuffix)
	old := content(t, m, name)
	require.Len(t, old, 12)
	l := mustOpen(t, options(m))
	appendBatch(t, l, 2)
	require.NoError(t, l.Checkpoint(t.Context()))
	appendBatch(t, l, 16)
	require.Len(t, l.Segments(), 2, "nothing more went into the first")
	require.Len(t, content(t, m, name), 24)
	m = m.Kill()
	put(t, m, name, old) // as it was before
	l = mustOpen(t, options(m))
	lookups(t, l)
	require.NoError(t, l.Close())
	verified(t, m, options(m), "")
}

// A segment whose batches were all durable while it was active is sealed, and the
// process is killed. What sealing did to its files is not durable until the log
// that was opened next has synced it: before its checkpoint vouches for them.
func TestSealedThenKilledIsSynced(t *testing.T) {
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	fill(t, l, 2)
	require.NoError(t, l.Checkpoint(t.Context()))
	appendBatch(t, l, 16)
	require.Len(t, l.Segments(), 2, "nothing more went into the first")
	end := l.Segments()[1].Base
	m = m.Kill()
	l = mustOpen(t, options(m))
	appendBatch(t, l, 1)
	require.NoError(t, l.Close())
	for seed := range uint64(40) {
		w := m.Fork().Crash(seed)
		l := mustOpen(t, options(w))
		require.True(t, l.Recovery().Clean, "seed %d: %v", seed, l.Recovery().LogValue())
		require.Greater(t, l.End(), end)
		lookups(t, l)
		require.NoError(t, l.Close())
		verified(t, w, options(w), fmt.Sprintf("seed %d", seed))
	}
}

// gapped is a batch that a leader sent, of n records from base on.
func gapped(t testing.TB, base int64, n int, pad int) []byte {
	t.Helper()
	var b record.Builder
	b.Reset(record.BatchOptions{BaseOffset: base})
	for i := range n {
		r := rec(base + int64(i))
		if i == n-1 {
			r.Headers = []record.Header{{Key: "pad", Value: make([]byte, pad)}}
		}
		require.NoError(t, b.Add(&r))
	}
	raw, err := b.Build()
	require.NoError(t, err)
	return append([]byte(nil), raw...)
}

// A durable batch behind a gap is not taken for one whose base offset was raised
// since the next one, that was being appended, has none yet.
func TestTornBatchBehindAGap(t *testing.T) {
	for stop := 1; ; stop++ {
		m := vfs.NewMem()
		l := mustOpen(t, options(m))
		_, err := l.AppendBatch(gapped(t, 1, 2, 0), log.FromLeader)
		require.NoError(t, err)
		require.NoError(t, l.Sync(t.Context()))
		var killed *vfs.Mem
		stores := 0
		m.OnStore = func(vfs.Store) {
			if stores++; stores == stop {
				killed = m.Kill()
			}
		}
		appendBatch(t, l, 2)
		if killed == nil {
			require.Greater(t, stop, 3)
			break
		}
		want := int64(3)
		if stop > 3 { // the length was the third; what follows is an index entry
			want = 5
		}
		require.Equal(t, want, mustOpen(t, reading(options(killed.Fork()))).End(), "killed at store %d", stop)
		l = mustOpen(t, options(killed))
		require.Equal(t, want, l.End(), "killed at store %d: %v", stop, l.Recovery().LogValue())
	}
}

// The same where the base offset of the next one lies in two sectors, and only
// the second was written.
func TestTornOffsetBehindAGap(t *testing.T) {
	first := gapped(t, 1, 2, 0)
	pad := 512 - len(first) - 4
	first = gapped(t, 1, 2, pad)
	for len(first) != 512-4 { // a length is one byte more or less
		pad += 512 - 4 - len(first)
		first = gapped(t, 1, 2, pad)
	}
	second := gapped(t, 3, 1, 0)
	clear(second[:4])
	m := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(m, dir, 0o755))
	record.SetBaseOffset(second, 0x7_0000_0000)
	clear(second[:4]) // of 0x7_0000_0000 nothing is left
	put(t, m, logName(0), append(first, second...))
	l := mustOpen(t, options(m))
	require.Equal(t, int64(3), l.End(), "%v", l.Recovery().LogValue())
	r, err := l.Read(1)
	require.NoError(t, err)
	require.Equal(t, string(rec(1).Value), string(r.Value))
}

// TestPowerCutInRecoveryAfterKill: a process is killed anywhere in changing the
// log, and the power is cut anywhere in the next open. What that open does goes
// by names that the killed process may not have made durable.
func TestPowerCutInRecoveryAfterKill(t *testing.T) {
	const n = 20
	l := mustOpen(t, options(synced(t, n)))
	end := l.End()
	require.NoError(t, l.DropFrom(11))
	newEnd := l.End()
	for name, c := range map[string]struct {
		op func(l *log.Log)
		ok func(first, last int64) bool
	}{
		"DropFrom":   {func(l *log.Log) { _ = l.DropFrom(11) }, func(first, last int64) bool { return first == 0 && (last == newEnd || last == end) }},
		"DropBefore": {func(l *log.Log) { _ = l.DropBefore(11) }, func(first, last int64) bool { return (first == 0 || first == 11) && last == end }},
	} {
		for kill, killed := 0, false; ; kill++ {
			m := synced(t, n)
			if m, killed = stopAt(t, m, kill, (*vfs.Mem).Kill, func(fsys vfs.FS) {
				if l, err := log.Open(t.Context(), dir, options(fsys)); err == nil {
					c.op(l)
				}
			}); !killed {
				break
			}
			for cut, wasCut := 0, true; wasCut; cut++ {
				for seed := range uint64(3) {
					var w *vfs.Mem
					w, wasCut = stopAt(t, m.Fork(), cut, func(m *vfs.Mem) *vfs.Mem { return m.Crash(seed) }, func(fsys vfs.FS) {
						_, _ = log.Open(t.Context(), dir, options(fsys))
					})
					l := mustOpen(t, options(w))
					require.True(t, c.ok(l.First(), l.End()), "%s killed at call %d, power cut %d at call %d of the open: [%d, %d), %v",
						name, kill, seed, cut, l.First(), l.End(), l.Recovery().LogValue())
					got, damage := readable(t, l)
					require.Empty(t, damage)
					require.Equal(t, span(l.First(), l.End()), got)
					require.NoError(t, l.Close())
				}
			}
		}
	}
}

// stopAt runs op and stops the machine before the n-th call that changes what is
// stored, and if there are fewer at the end, which it says.
func stopAt(t testing.TB, m *vfs.Mem, n int, stop func(*vfs.Mem) *vfs.Mem, op func(fsys vfs.FS)) (after *vfs.Mem, stopped bool) {
	t.Helper()
	faulty := vfs.NewFaulty(m)
	calls := 0
	faulty.Trace = func(c vfs.Call) {
		if c.Op&vfs.ChangeOp == 0 || after != nil {
			return
		}
		if calls == n {
			after = stop(m)
		}
		calls++
	}
	op(faulty)
	if after == nil {
		return stop(m), false
	}
	return after, true
}
