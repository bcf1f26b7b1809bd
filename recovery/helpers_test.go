package recovery_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/segment"
)

const dir = "/logs/t-0"

// options make segments of a handful of batches, each with index entries.
func options(fsys vfs.FS) log.Options {
	return log.Options{SegmentBytes: 1000, IndexInterval: 100, MappedSegments: 2, Env: log.Env{FS: fsys}}
}

func repairing(o log.Options) log.Options {
	o.Mode = log.Repair
	return o
}

func reading(o log.Options) log.Options {
	o.Mode = log.ReadOnly
	return o
}

// rec is the record that belongs at offset i: every offset has its own, so what
// is read shows whether it is where it was put.
func rec(i int64) record.Record {
	return record.Record{Key: fmt.Appendf(nil, "key-%d", i), Value: fmt.Appendf(nil, "value-%d-%s", i, strings.Repeat("x", int(i%7)*9)),
		Time: time.UnixMilli(1_700_000_000_000 + i*1000 + i%3*500)}
}

func mustOpen(t testing.TB, o log.Options) *log.Log {
	t.Helper()
	l, err := log.Open(t.Context(), dir, o)
	require.NoError(t, err)
	return l
}

// fill appends n batches of one to three records.
func fill(t testing.TB, l *log.Log, n int) {
	t.Helper()
	for i := range n {
		appendBatch(t, l, 1+i%3)
	}
}

func appendBatch(t testing.TB, l *log.Log, records int) {
	t.Helper()
	batch := make([]record.Record, records)
	for j := range batch {
		batch[j] = rec(l.End() + int64(j))
	}
	_, err := l.Append(batch...)
	require.NoError(t, err)
}

// readable is the offsets of a log that can be read. Each record is checked to
// be the one that belongs there, damage must come as a *DamageError, and every
// offset in [First, End) is either read or covered by damage.
func readable(t testing.TB, l *log.Log) (offsets []int64, damage []error) {
	t.Helper()
	for r, err := range l.From(l.First()) {
		if err != nil {
			var d *log.DamageError
			require.ErrorAs(t, err, &d)
			damage = append(damage, err)
			continue
		}
		want := rec(r.Offset)
		require.Equal(t, string(want.Key), string(r.Key), "offset %d", r.Offset)
		require.Equal(t, string(want.Value), string(r.Value), "offset %d", r.Offset)
		require.Equal(t, want.Time.UnixMilli(), r.Time.UnixMilli())
		offsets = append(offsets, r.Offset)
	}
	return offsets, damage
}

// span is the offsets of [from, end).
func span(from, end int64) []int64 {
	var list []int64
	for ; from < end; from++ {
		list = append(list, from)
	}
	return list
}

func without(list []int64, from, end int64) []int64 {
	var kept []int64
	for _, x := range list {
		if x < from || x >= end {
			kept = append(kept, x)
		}
	}
	return kept
}

// recovers is what every recovery test ends in: open, and exactly these offsets
// are there; append and sync; close and open: old and new are there and nothing
// was repaired; append, sync and cut the power: all is there again; close and
// open: nothing was repaired. Everything verifies, and what each open says it
// will do is done: a second look finds nothing.
func recovers(t testing.TB, m *vfs.Mem, o log.Options, want []int64) *vfs.Mem {
	t.Helper()
	o.Env.FS = m
	l := mustOpen(t, o)
	r := l.Recovery()
	got, damage := readable(t, l)
	require.Empty(t, damage)
	require.Equal(t, want, got, "%v", r.LogValue())
	ordered(t, l)
	o.Mode = log.ReadWrite

	more := func(l *log.Log) {
		first := l.End()
		for n := 1; n <= 2; n++ {
			batch := make([]record.Record, n)
			for i := range batch {
				batch[i] = rec(l.End() + int64(i))
			}
			_, err := l.AppendSync(t.Context(), batch...)
			require.NoError(t, err)
		}
		want = append(want, span(first, l.End())...)
		got, damage := readable(t, l)
		require.Empty(t, damage)
		require.Equal(t, want, got)
	}
	check := func(l *log.Log, clean bool) {
		r := l.Recovery()
		if clean {
			require.Empty(t, r.Actions)
			require.True(t, r.Clean, "%v", r.LogValue())
		}
		require.Empty(t, r.Damage)
		got, damage := readable(t, l)
		require.Empty(t, damage)
		require.Equal(t, want, got, "%v", r.LogValue())
		ordered(t, l)
	}
	more(l)
	require.NoError(t, l.Close())

	l = mustOpen(t, o)
	check(l, true)
	more(l)
	m = m.Crash(uint64(len(want)))
	o.Env.FS = m
	l = mustOpen(t, o)
	check(l, false)
	require.NoError(t, l.Close())

	l = mustOpen(t, o)
	check(l, true)
	require.NoError(t, l.Close())
	v, err := log.Verify(t.Context(), dir, o, nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Empty(t, v.Notes)
	return m
}

// ordered checks the invariants of the list of segments (M13, M8).
func ordered(t testing.TB, l *log.Log) {
	t.Helper()
	var bytes int64
	next := int64(-1)
	for _, s := range l.Segments() {
		require.GreaterOrEqual(t, s.Base, next)
		require.GreaterOrEqual(t, s.Next, s.Base)
		next, bytes = s.Next, bytes+s.Bytes
	}
	require.Equal(t, next, l.End())
	require.Equal(t, bytes, l.Stats().Bytes)
	require.LessOrEqual(t, l.First(), l.End())
	require.LessOrEqual(t, l.Durable(), l.End())
}

// killed is a log of n batches whose process was killed: only its first append
// was preceded by a checkpoint. Bytes behind the batches are zeros.
func killed(t testing.TB, n int) (*vfs.Mem, []log.SegmentInfo) {
	t.Helper()
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	fill(t, l, n)
	infos := l.Segments()
	return m.Kill(), infos
}

// rebooted is a log as killed left it, on a machine that was restarted since:
// what was not synced may be torn.
func rebooted(t testing.TB, n int) (*vfs.Mem, []log.SegmentInfo) {
	t.Helper()
	m, infos := killed(t, n)
	return m.Reboot(), infos
}

// closed is a log of n batches that was closed.
func closed(t testing.TB, n int) (*vfs.Mem, []log.SegmentInfo) {
	t.Helper()
	m := vfs.NewMem()
	l := mustOpen(t, options(m))
	fill(t, l, n)
	infos := l.Segments()
	require.NoError(t, l.Close())
	return m.Kill(), infos
}

// foreign is a log of n batches as another program would leave it.
func foreign(t testing.TB, n int) (*vfs.Mem, []log.SegmentInfo) {
	t.Helper()
	m, infos := closed(t, n)
	require.NoError(t, m.Remove(filepath.Join(dir, recovery.CheckpointName)))
	return m, infos
}

// copyOf is the same files again.
func copyOf(t testing.TB, m *vfs.Mem) *vfs.Mem {
	t.Helper()
	c := vfs.NewMem()
	require.NoError(t, vfs.MkdirAll(c, dir, 0o755))
	for _, name := range names(t, m) {
		put(t, c, name, content(t, m, name))
	}
	return c
}

func names(t testing.TB, m vfs.FS) (list []string) {
	t.Helper()
	entries, err := m.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func namesLike(t testing.TB, m vfs.FS, pattern string) (list []string) {
	t.Helper()
	for _, name := range names(t, m) {
		if ok, err := filepath.Match(pattern, name); ok {
			require.NoError(t, err)
			list = append(list, name)
		}
	}
	return list
}

func content(t testing.TB, m vfs.FS, name string) []byte {
	t.Helper()
	b, err := vfs.ReadFile(m, filepath.Join(dir, name))
	require.NoError(t, err)
	return b
}

// put writes a file, durably.
func put(t testing.TB, m vfs.FS, name string, b []byte) {
	t.Helper()
	require.NoError(t, vfs.WriteFile(m, filepath.Join(dir, name), b))
}

func remove(t testing.TB, m vfs.FS, name string) {
	t.Helper()
	if err := m.Remove(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	require.NoError(t, m.SyncDir(dir))
}

func logName(base int64) string { return segment.Name(base, segment.LogSuffix) }

// batches is where the batches of a log file are.
func batches(t testing.TB, b []byte) (list []at) {
	t.Helper()
	for pos := 0; pos < len(b); {
		h, err := record.ParseHeader(b[pos:])
		if err != nil {
			break
		}
		list = append(list, at{pos, pos + h.Size, h.BaseOffset, h.NextOffset()})
		pos += h.Size
	}
	return list
}

type at struct {
	from, to  int   // positions
	base, end int64 // offsets
}

// inspect looks without changing.
func inspect(t testing.TB, m vfs.FS, o recovery.Options) *recovery.Report {
	t.Helper()
	r, err := recovery.Inspect(t.Context(), config(m), o)
	require.NoError(t, err)
	return r
}

// files is all there is, to see that nothing has changed.
func files(t testing.TB, m vfs.FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range names(t, m) {
		if name != log.LockName {
			all[name] = string(content(t, m, name))
		}
	}
	return all
}

type info = log.SegmentInfo

func must(m *vfs.Mem, _ []info) *vfs.Mem { return m }

// refuses wants Open to refuse with a *DamageError that names the file, like
// pattern, and the position, unless that is -1; to change nothing; and to open
// for reading all the same.
func refuses(t testing.TB, m *vfs.Mem, pattern string, position int64) *log.DamageError {
	t.Helper()
	before := files(t, m)
	_, err := log.Open(t.Context(), dir, options(m))
	var d *log.DamageError
	require.ErrorAs(t, err, &d)
	require.ErrorIs(t, err, record.ErrCorrupt)
	ok, matchErr := filepath.Match(pattern, filepath.Base(d.Path))
	require.NoError(t, matchErr)
	require.True(t, ok, d.Path)
	require.Contains(t, err.Error(), d.Path)
	if position >= 0 {
		require.Equal(t, position, d.Position)
	}
	require.Equal(t, before, files(t, m))
	l := mustOpen(t, reading(options(m)))
	readable(t, l)
	require.NoError(t, l.Close())
	require.Equal(t, before, files(t, m))
	return d
}
