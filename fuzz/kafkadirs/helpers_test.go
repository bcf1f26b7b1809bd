// Package kafkadirs holds the engine against directories that Apache Kafka
// wrote, and against ones made here of what those do not show.
package kafkadirs_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/testkit"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
)

// small keeps the mappings small and lets foreign segments be larger than ours.
func small() log.Options { return log.Options{SegmentBytes: 256 << 10, IndexInterval: 4096} }

func readOnly(o log.Options) log.Options {
	o.Mode = log.ReadOnly
	return o
}

func open(t testing.TB, dir string, o log.Options) *log.Log {
	t.Helper()
	l, err := log.Open(t.Context(), dir, o)
	require.NoError(t, err)
	return l
}

// all reads every record there is, each as its line in an expected-*.txt.
func all(t testing.TB, l *log.Log) []string {
	t.Helper()
	return allAt(t, l, log.UpToEnd)
}

// allAt is what a reader of that isolation is handed.
func allAt(t testing.TB, l *log.Log, level log.Isolation) []string {
	t.Helper()
	lines := []string{}
	for r, err := range l.Isolated(level).From(l.First()) {
		require.NoError(t, err)
		lines = append(lines, line(&r))
	}
	return lines
}

func line(r *record.Record) string {
	key, value := "null", "null"
	if r.Key != nil {
		key = strconv.Quote(string(r.Key))
		for _, c := range r.Key {
			if c < ' ' || c > '~' {
				key = fmt.Sprintf("hex:%x", r.Key)
				break
			}
		}
	}
	if r.Value != nil {
		sum := sha256.Sum256(r.Value)
		value = fmt.Sprintf("%d:%x", len(r.Value), sum[:8])
	}
	ms := int64(-1)
	if !r.Time.IsZero() {
		ms = r.Time.UnixMilli()
	}
	kind := map[record.TimestampType]string{record.CreateTime: "create", record.LogAppendTime: "append"}[r.TimestampType]
	return fmt.Sprintf("%d\t%d\t%s\t%s\t%s\t%d", r.Offset, ms, kind, key, value, len(r.Headers))
}

// headersOf walks the batches of the whole log through Borrow.
func headersOf(t testing.TB, l *log.Log) []record.BatchHeader {
	t.Helper()
	var list []record.BatchHeader
	for at := l.First(); at < l.End(); {
		v, err := l.Borrow(at, 1<<20)
		require.NoError(t, err)
		for b := range v.Batches() {
			list = append(list, b.BatchHeader)
		}
		require.Greater(t, v.Next(), at)
		at = v.Next()
		v.Release()
	}
	return list
}

// appendAndReopen is the rest of every test of an opened directory: what is
// there stays there, what is appended comes back, the next open repairs
// nothing, and everything verifies.
func appendAndReopen(t testing.TB, dir string, o log.Options) {
	t.Helper()
	l := open(t, dir, o)
	before, first, end := all(t, l), l.First(), l.End()
	added := record.Record{Key: []byte("seglog"), Value: []byte("was here"), Time: time.UnixMilli(1_900_000_000_000)}
	at, err := l.AppendSync(t.Context(), added, added)
	require.NoError(t, err)
	require.Equal(t, end, at)
	require.Equal(t, end+2, l.Durable())
	added.Offset = at
	want := append(before, line(&added))
	added.Offset++
	want = append(want, line(&added))
	require.Equal(t, want, all(t, l))
	require.NoError(t, l.Close())

	again := open(t, dir, o)
	r := again.Recovery()
	require.True(t, r.Clean, "%v", r.LogValue())
	require.Empty(t, r.Actions)
	require.Equal(t, first, again.First())
	require.Equal(t, end+2, again.End())
	require.Equal(t, want, all(t, again))
	require.NoError(t, again.Close())
	verify(t, dir, o)
}

// verify wants a directory without faults, and unchanged by looking.
func verify(t testing.TB, dir string, o log.Options) {
	t.Helper()
	before := testkit.Snapshot(t, dir)
	v, err := log.Verify(t.Context(), dir, o, nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
	require.Equal(t, before, testkit.Snapshot(t, dir))
}

func timeOf(ms int64) time.Time { return time.UnixMilli(ms) }
