package log_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/recovery"
	"github.com/seglog/seglog/retention/compact"
	"github.com/seglog/seglog/segment"
)

// TestPitfallR11SaysWhy: a compaction that does nothing says why, and one after
// the other come to a point where nothing is left to do.
func TestPitfallR11SaysWhy(t *testing.T) {
	c, o := newClock(), compactedLog()
	c.option(&o)
	o.Compaction.MinLag = time.Hour
	l, _, _ := inMem(t, o)
	require.Equal(t, compact.NothingDirty, compacted(t, l).Plan.Skip)
	put(t, l, keyed("a", "1"))
	roll(t, l)
	require.Equal(t, compact.TooYoung, compacted(t, l).Plan.Skip)
	c.add(time.Hour)
	require.Empty(t, compacted(t, l).Plan.Skip)
	put(t, l, keyed("a", "2"))
	roll(t, l)
	c.add(time.Hour)
	plan, err := l.Dirty()
	require.NoError(t, err)
	require.Equal(t, 0.5, plan.Ratio())
	require.False(t, plan.Due)
	for n := 0; ; n++ {
		require.Less(t, n, 3)
		if r := compacted(t, l); r.Plan.Skip != "" {
			require.Equal(t, compact.NothingDirty, r.Plan.Skip)
			break
		}
	}
	require.Equal(t, []string{"4 a=2"}, withoutRolls(readAll(t, l)))
}

// TestNotCompacted: a log that is not to be compacted is not, whoever asks:
// its records may have no key.
func TestNotCompacted(t *testing.T) {
	l, _, _ := inMem(t, small())
	fill(t, l, 12)
	_, err := l.Compact(ctx)
	require.ErrorIs(t, err, log.ErrNotCompacted)
	_, err = l.Dirty()
	require.ErrorIs(t, err, log.ErrNotCompacted)
	require.ErrorIs(t, l.Maintain(ctx, log.Every{Compact: time.Hour}), log.ErrNotCompacted)
	wantValues(t, l)
}

// TestCompactBeforeAnEmptySegment: the newest segment that has records is
// compacted once another one is there, which a crash or another program may have
// left empty and without a word in the checkpoint.
func TestCompactBeforeAnEmptySegment(t *testing.T) {
	o := compactedLog()
	l, _, mem := inMem(t, o)
	for range 3 {
		put(t, l, keyed("a", "1"), keyed("b", "1"), keyed("a", "2"))
	}
	end := l.End()
	closeLog(t, l)
	f, err := mem.OpenFile(filepath.Join("log", segment.Name(end, segment.LogSuffix)), os.O_RDWR|os.O_CREATE, 0o644)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	l = open(t, "log", on(o, mem))
	r := compacted(t, l)
	require.Equal(t, end, r.FirstDirty)
	require.EqualValues(t, 7, r.Dropped)
	require.Equal(t, []string{"7 b=1", "8 a=2"}, readAll(t, l))
	closeLog(t, l)
	l = open(t, "log", on(o, mem))
	require.Equal(t, end, l.End())
	require.Empty(t, l.Recovery().Actions)
}

// TestCompactOpenTransaction: nothing at or above the last stable offset.
func TestCompactOpenTransaction(t *testing.T) {
	l, _, _ := inMem(t, compactedLog())
	put(t, l, keyed("a", "1"), keyed("a", "2"))
	first := l.End()
	own := record.Producer{ID: 7}
	_, err := l.AppendBatch(encode(t, record.BatchOptions{Producer: &own, Transactional: true}, keyed("b", "1")), log.FromClient)
	require.NoError(t, err)
	roll(t, l)
	r := compacted(t, l)
	require.Equal(t, compact.OpenTxn, r.Plan.Skip)
	require.LessOrEqual(t, r.Plan.End, first)
	end(t, l, 7, 1, true)
	require.EqualValues(t, 1, compacted(t, l).Dropped)
}

// TestCompactAfterCut: what is written anew behind a cut is dirty, in this
// process, in the next, and in one after a crash.
func TestCompactAfterCut(t *testing.T) {
	for how := range 3 {
		o := compactedLog()
		l, _, mem := inMem(t, o)
		for range 3 {
			put(t, l, keyed("a", "1"))
			roll(t, l)
		}
		first := compacted(t, l).FirstDirty
		require.EqualValues(t, l.Segments()[len(l.Segments())-1].Base, first)
		require.NoError(t, l.DropFrom(2))
		for l.End() < first {
			put(t, l, keyed("a", "2"))
			roll(t, l)
		}
		require.NoError(t, l.Sync(ctx))
		switch how {
		case 1:
			closeLog(t, l)
			l = open(t, "log", on(o, mem))
		case 2:
			l = open(t, "log", on(o, mem.Crash(1)))
		}
		r := compacted(t, l)
		require.LessOrEqual(t, r.Plan.FirstDirty, int64(2))
		require.Positive(t, r.Dropped)
	}
}

// TestCompactResumes: a new Log goes on where the last one came to, as far as
// the files are as they were then.
func TestCompactResumes(t *testing.T) {
	o := compactedLog()
	again := func(mem *vfs.Mem) compact.Plan {
		l := open(t, "log", on(o, mem))
		plan, err := l.Dirty()
		require.NoError(t, err)
		closeLog(t, l)
		return plan
	}
	var mem *vfs.Mem
	for _, crash := range []bool{true, false} {
		var l *log.Log
		l, _, mem = inMem(t, o)
		for range 3 {
			put(t, l, keyed("a", "1"), keyed("b", "1"))
			roll(t, l)
		}
		first := compacted(t, l).FirstDirty
		if crash {
			mem = mem.Crash(1)
		} else {
			closeLog(t, l)
		}
		plan := again(mem)
		require.Equal(t, first, plan.FirstDirty)
		require.Equal(t, compact.NothingDirty, plan.Skip)
	}

	// Another program wrote the first segment anew.
	raw := encode(t, record.BatchOptions{}, keyed("a", "other"))
	require.NoError(t, vfs.WriteFile(mem, "log/00000000000000000000.log", raw))
	repair := on(small(), mem)
	repair.Mode = log.Repair
	closeLog(t, open(t, "log", repair))
	require.Zero(t, again(mem).FirstDirty)

	require.NoError(t, mem.Remove("log/"+recovery.CheckpointName))
	require.Zero(t, again(mem).FirstDirty)
}

// hook calls f once, at the first call to the file system that is like that.
func hook(faulty *vfs.Faulty, op vfs.Op, pattern string, f func()) {
	done := false
	faulty.Trace = func(c vfs.Call) {
		if ok, _ := filepath.Match(pattern, filepath.Base(c.Name)); ok && c.Op == op && !done {
			done = true
			f()
		}
	}
}

// TestCompactDroppedBeneath: segments that are dropped while they are compacted
// stay dropped, and nothing is left of what was to replace them.
func TestCompactDroppedBeneath(t *testing.T) {
	for name, drop := range map[string]func(l *log.Log) error{
		"before": func(l *log.Log) error { return l.DropBefore(l.Segments()[1].Base) },
		"from":   func(l *log.Log) error { return l.DropFrom(0) },
	} {
		t.Run(name, func(t *testing.T) {
			l, faulty, mem := inMem(t, compactedLog())
			for range 3 {
				put(t, l, keyed("a", "1"))
				roll(t, l)
			}
			hook(faulty, vfs.OpSync, "*.log.cleaned", func() { require.NoError(t, drop(l)) })
			r := compacted(t, l)
			require.Equal(t, compact.ChangedBeneath, r.Plan.EndedBy)
			require.Zero(t, r.Segments.After-int64(len(l.Segments())-1))
			for _, name := range names(t, mem, "log") {
				require.NotEqual(t, ".cleaned", filepath.Ext(name))
			}
			put(t, l, keyed("a", "2"))
			roll(t, l)
			compacted(t, l)
			readAll(t, l)
		})
	}
}

// stacks are those of all goroutines.
func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// TestCompactClosedBeneath: Close ends a compaction and waits for it.
func TestCompactClosedBeneath(t *testing.T) {
	l, faulty, mem := inMem(t, compactedLog())
	for range 3 {
		put(t, l, keyed("a", "1"))
		roll(t, l)
	}
	closed := make(chan error, 1)
	hook(faulty, vfs.OpSync, "*.log.cleaned", func() {
		go func() { closed <- l.Close() }()
		soon(t, "Close waits for the compaction", func() bool {
			return slices.ContainsFunc(strings.Split(stacks(), "\n\n"), func(s string) bool {
				return strings.Contains(s, "[chan send") && strings.Contains(s, "(*compaction).stop(")
			})
		})
	})
	_, err := l.Compact(ctx)
	require.ErrorIs(t, err, log.ErrClosed)
	require.NoError(t, <-closed)
	for _, name := range names(t, mem, "log") {
		require.NotEqual(t, ".cleaned", filepath.Ext(name))
	}
	_, err = l.Compact(ctx)
	require.ErrorIs(t, err, log.ErrClosed)
}

func TestCompactCancelled(t *testing.T) {
	l, _, _ := inMem(t, compactedLog())
	put(t, l, keyed("a", "1"))
	roll(t, l)
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(errors.ErrUnsupported)
	_, err := l.Compact(ctx)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// TestCompactViews: a View of a segment that was replaced stays good.
func TestCompactViews(t *testing.T) {
	l := open(t, t.TempDir(), compactedLog())
	put(t, l, keyed("a", "1"))
	roll(t, l)
	put(t, l, keyed("a", "2"))
	roll(t, l)
	v, err := l.Borrow(0, 1)
	require.NoError(t, err)
	before := string(v.Bytes())
	compacted(t, l)
	require.Equal(t, before, string(v.Bytes()))
	v.Release()
	_, err = l.Read(0)
	require.ErrorIs(t, err, log.ErrNoRecord)
}

// TestCompactWindows: where files in use cannot be renamed or removed, a
// compaction that nobody reads along with has none in use.
func TestCompactWindows(t *testing.T) {
	mem, o := dirty(t)
	faulty := vfs.NewFaulty(mem)
	faulty.WindowsSharing = true
	l, err := log.Open(ctx, "log", on(o, faulty))
	require.NoError(t, err)
	want := newestOf(t, l)
	require.Positive(t, compacted(t, l).Replaced)
	require.Equal(t, want, newestOf(t, l))
	_ = l.Close() // which cuts mapped files, and cannot
}

// TestCompactBesideCheckpoint: the seal of a segment that is replaced while it
// is computed is not taken for that of the new one.
func TestCompactBesideCheckpoint(t *testing.T) {
	o := compactedLog()
	l := open(t, t.TempDir(), o)
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			case <-time.After(time.Millisecond): // the right to commit is not handed out in turn
			}
			if err := l.Checkpoint(ctx); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 60 {
		put(t, l, keyed("a", "1"))
		roll(t, l)
		compacted(t, l)
	}
	close(stop)
	require.NoError(t, <-done)
	require.NoError(t, l.Checkpoint(ctx))
	dir := l.Dir()
	closeLog(t, l)
	v, err := log.Verify(ctx, dir, o, nil)
	require.NoError(t, err)
	require.Empty(t, v.Faults)
}
