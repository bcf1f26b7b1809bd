package log_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
)

// manySegments makes a log of n segments, closed cleanly.
func manySegments(t testing.TB, dir string, n int) log.Options {
	t.Helper()
	o := log.Options{SegmentBytes: 200, IndexInterval: 4096}
	l, err := log.Open(ctx, dir, o)
	require.NoError(t, err)
	fill(t, l, n)
	require.NoError(t, l.Close())
	return o
}

// TestPitfallS1: opening after a clean close looks at names, sizes and the
// checkpoint. No data page is touched: no sealed .log is opened, none is read,
// and the active one is mapped and not looked at.
func TestPitfallS1CleanOpenReadsNoData(t *testing.T) {
	const n = 1000
	dir := t.TempDir()
	o := manySegments(t, dir, n)
	faulty := vfs.NewFaulty(vfs.OS)
	active := fmt.Sprintf("%020d.log", n-1)
	logs, reads, opening := 0, int64(0), true
	faulty.Trace = func(c vfs.Call) {
		data := strings.HasSuffix(c.Name, ".log") || strings.HasSuffix(c.Name, "index")
		switch {
		case !opening:
		case c.Op == vfs.OpReadAt && data:
			t.Errorf("%s is read", c.Name)
		case c.Op == vfs.OpReadAt:
			reads += c.Len
		case (c.Op == vfs.OpOpen || c.Op == vfs.OpCreate) && data:
			logs++
			if !strings.HasPrefix(c.Name[len(dir)+1:], active[:20]) {
				t.Errorf("%s is opened", c.Name)
			}
		case c.Op == vfs.OpMap && !strings.HasPrefix(c.Name[len(dir)+1:], active[:20]):
			t.Errorf("%s is mapped", c.Name)
		}
	}
	o.Env.FS = faulty
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	l, err := log.Open(ctx, dir, o)
	took := time.Since(began)
	opening = false
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.True(t, l.Recovery().Clean)
	assert.Equal(t, n, l.Stats().Segments)
	assert.Equal(t, 3, logs)
	assert.Zero(t, l.Stats().Mapped)
	assert.Less(t, reads, int64(200*n), "the checkpoint")
	heap := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	allocated := int64(after.TotalAlloc - before.TotalAlloc)
	t.Logf("%d segments in %v: %d bytes kept and %d allocated a segment, %d calls, %d bytes read",
		n, took, heap/n, allocated/n, faulty.Calls(vfs.AnyOp), reads)
	assert.Less(t, heap, int64(2000*n))
	assert.Less(t, allocated, int64(20_000*n))
	if !raceEnabled {
		assert.Less(t, took, 2*time.Second, "a bound for a busy machine; BenchmarkOpenClean measures")
	}
	wantValues(t, l)
	closeLog(t, l)

	// Nor does Close, of a log that nothing happened to, touch or write anything.
	l, err = log.Open(ctx, dir, o)
	require.NoError(t, err)
	calls := faulty.Calls(vfs.ChangeOp)
	closeLog(t, l)
	assert.Equal(t, calls, faulty.Calls(vfs.ChangeOp))
}

// BenchmarkOpenClean opens and closes a log of a thousand segments.
func BenchmarkOpenClean(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("segments=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			o := manySegments(b, dir, n)
			b.ReportAllocs()
			for b.Loop() {
				l, err := log.Open(ctx, dir, o)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
