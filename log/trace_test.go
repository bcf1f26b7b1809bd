package log_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention"
)

// TestHooksMayCallTheLog: each hook does everything a caller may, so a lock
// held around one would be a deadlock.
func TestHooksMayCallTheLog(t *testing.T) {
	var l *log.Log
	depth := 0
	fired := map[string]int{}
	use := func(what string) {
		fired[what]++
		if l == nil || depth > 0 {
			return // hooks of what hooks do
		}
		if _, err := l.Append(); err != nil {
			assert.ErrorIs(t, err, log.ErrClosed)
			return
		}
		depth++
		defer func() { depth-- }()
		var err error
		for range 4 {
			_, err = l.AppendSync(ctx, rec("from a hook"))
			assert.NoError(t, err)
		}
		assert.NoError(t, l.Sync(ctx))
		assert.NoError(t, l.Checkpoint(ctx))
		assert.NoError(t, l.DropBefore(l.First()+1))
		assert.NoError(t, l.DropFrom(l.End()-1))
		_, err = l.Retain(ctx)
		assert.NoError(t, err)
		_, err = l.Read(l.First())
		assert.NoError(t, err)
		l.Stats()
	}
	o := small()
	o.Env.FS = vfs.NewMem()
	o.Retention = retention.MaxBytes(3000)
	o.Trace = log.Trace{
		Recovered: func(*recovery.Report) { use("Recovered") },
		Rolled:    func(log.RollEvent) { use("Rolled") },
		Synced:    func(log.SyncEvent) { use("Synced") },
		Dropped:   func(log.DropEvent) { use("Dropped") },
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l = open(t, "log", o)
		for range 30 {
			_, err := l.Append(rec(value(0)))
			assert.NoError(t, err)
		}
		assert.NoError(t, l.Sync(ctx))
		assert.NoError(t, l.DropBefore(l.End()-2))
		assert.NoError(t, l.DropFrom(l.End()-1))
		_, err := l.Retain(ctx)
		assert.NoError(t, err)
		assert.NoError(t, l.Close())
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a hook that calls the log hangs")
	}
	for _, what := range []string{"Recovered", "Rolled", "Synced", "Dropped"} {
		assert.NotZero(t, fired[what], what)
	}
}

// TestScanned: whoever opens a log is told of every byte that is verified for
// it: all of one without a checkpoint, what lies behind one after a crash, and
// nothing after a clean close.
func TestScanned(t *testing.T) {
	o, mem := log.Options{SegmentBytes: 8 << 20}, vfs.NewMem()
	o.Env.FS = mem
	fill := func(l *log.Log, batches int) {
		for range batches {
			_, err := l.Append(rec(strings.Repeat("v", 1<<20)))
			require.NoError(t, err)
		}
	}
	events := 0
	scanned := func(mem *vfs.Mem) (bytes int64) {
		o.Env.FS, events = mem, 0
		o.Trace.Scanned = func(e log.ScanEvent) {
			require.Equal(t, "log", e.Dir)
			require.Positive(t, e.Bytes)
			bytes, events = bytes+e.Bytes, events+1
		}
		o.Mode = log.ReadOnly
		require.NoError(t, open(t, "log", o).Close())
		o.Mode, o.Trace.Scanned = log.ReadWrite, nil
		return bytes
	}
	l := open(t, "log", o)
	fill(l, 12)
	require.NoError(t, l.Checkpoint(ctx))
	before := l.Stats().Bytes
	fill(l, 6)
	all := l.Stats().Bytes
	mem = mem.Kill()
	require.Equal(t, all-before, scanned(mem))
	l = open(t, "log", o)
	require.NoError(t, l.Close())
	require.Zero(t, scanned(mem))
	require.NoError(t, mem.Remove("log/"+recovery.CheckpointName))
	require.Equal(t, all, scanned(mem))
	require.Greater(t, events, len(l.Segments()), "more than once in a segment")
}

func TestSegmentsAndStats(t *testing.T) {
	o := small()
	o.MappedSegments = 2
	mem := vfs.NewMem()
	o.Env.FS = mem
	for range 2 { // live, and after opening again
		l := open(t, "log", o)
		for i := int(l.End()); i < 22; i++ {
			_, err := l.Append(timed(value(i), time.Duration(i%7)*time.Second))
			require.NoError(t, err)
		}
		infos, next, bytes := l.Segments(), int64(0), int64(0)
		require.Len(t, infos, 5)
		for i, s := range infos {
			assert.Equal(t, next, s.Base)
			assert.Equal(t, i == 4, s.Active)
			first, largest := time.Time{}, time.Time{}
			for at := s.Base; at < s.Next; at++ {
				r, err := l.Read(at)
				require.NoError(t, err)
				if at == s.Base {
					first = r.Time
				}
				if r.Time.After(largest) {
					largest = r.Time
				}
			}
			assert.Equal(t, first, s.FirstTime)
			assert.Equal(t, largest, s.MaxTime)
			next, bytes = s.Next, bytes+s.Bytes
		}
		assert.Equal(t, int64(22), next)
		stats := l.Stats()
		assert.Equal(t, log.Stats{First: 0, HighWatermark: 22, Durable: l.Durable(), End: 22, Segments: 5, Bytes: bytes, Mapped: stats.Mapped}, stats)
		assert.LessOrEqual(t, stats.Mapped, 2)
		assert.Len(t, borrowAll(t, l), int(bytes))
		closeLog(t, l)
	}
}
