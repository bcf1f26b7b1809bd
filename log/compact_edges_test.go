package log_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/retention/compact"
)

// TestPitfallR11SaysWhy: a compaction that does nothing says why, and one after
// the other come to a point where nothing is left to do.
func TestPitfallR11SaysWhy(t *testing.T) {
	c, o := newClock(), small()
	c.option(&o)
	l, _, _ := inMem(t, o)
	require.Equal(t, compact.NothingDirty, compacted(t, l, compact.Options{}).Plan.Skip)
	put(t, l, keyed("a", "1"))
	roll(t, l)
	require.Equal(t, compact.TooYoung, compacted(t, l, compact.Options{MinLag: time.Hour}).Plan.Skip)
	require.Empty(t, compacted(t, l, compact.Options{}).Plan.Skip)
	put(t, l, keyed("a", "2"))
	roll(t, l)
	r := compacted(t, l, compact.Options{})
	require.Equal(t, compact.RatioTooLow, r.Plan.Skip)
	require.Equal(t, 0.5, r.Plan.Ratio())
	for n := 0; ; n++ {
		require.Less(t, n, 3)
		if r := compacted(t, l, always()); r.Plan.Skip != "" {
			require.Equal(t, compact.NothingDirty, r.Plan.Skip)
			break
		}
	}
	require.Equal(t, []string{"4 a=2"}, withoutRolls(readAll(t, l)))
}

// TestCompactOpenTransaction: nothing at or above the last stable offset.
func TestCompactOpenTransaction(t *testing.T) {
	l, _, _ := inMem(t, small())
	put(t, l, keyed("a", "1"), keyed("a", "2"))
	sendTxn(t, l, 7, 0, 0, 1)
	roll(t, l)
	r := compacted(t, l, always())
	require.Equal(t, compact.OpenTxn, r.Plan.Skip)
	end(t, l, 7, 1, true)
	require.EqualValues(t, 2, compacted(t, l, always()).Dropped, "a 1, and the transaction's record, which has no key")
}

// TestCompactAfterCut: what is written anew behind a cut is dirty, whatever was
// known or given.
func TestCompactAfterCut(t *testing.T) {
	l, _, _ := inMem(t, small())
	for range 3 {
		put(t, l, keyed("a", "1"))
		roll(t, l)
	}
	first := compacted(t, l, always()).FirstDirty
	require.EqualValues(t, l.Segments()[len(l.Segments())-1].Base, first)
	require.NoError(t, l.DropFrom(2))
	for l.End() < first {
		put(t, l, keyed("a", "2"))
		roll(t, l)
	}
	o := always()
	o.FirstDirty = first
	r := compacted(t, l, o)
	require.Less(t, r.Plan.FirstDirty, first)
	require.Positive(t, r.Dropped)
}

// TestCompactResumes: a new Log begins where it is told.
func TestCompactResumes(t *testing.T) {
	o := small()
	l, f, _ := inMem(t, o)
	put(t, l, keyed("a", "1"))
	roll(t, l)
	first := compacted(t, l, always()).FirstDirty
	closeLog(t, l)
	o.Env.FS = f
	l = open(t, "log", o)
	given := always()
	given.FirstDirty = first
	require.Equal(t, compact.NothingDirty, compacted(t, l, given).Plan.Skip)
	require.Empty(t, compacted(t, l, always()).Plan.Skip)
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
			l, faulty, mem := inMem(t, small())
			for range 3 {
				put(t, l, keyed("a", "1"))
				roll(t, l)
			}
			hook(faulty, vfs.OpSync, "*.log.cleaned", func() { require.NoError(t, drop(l)) })
			r := compacted(t, l, always())
			require.Equal(t, compact.ChangedBeneath, r.Plan.EndedBy)
			require.Zero(t, r.Segments.After-int64(len(l.Segments())-1))
			for _, name := range names(t, mem, "log") {
				require.NotEqual(t, ".cleaned", filepath.Ext(name))
			}
			put(t, l, keyed("a", "2"))
			roll(t, l)
			compacted(t, l, always())
			readAll(t, l)
		})
	}
}

// TestCompactClosedBeneath: Close ends a compaction and waits for it.
func TestCompactClosedBeneath(t *testing.T) {
	l, faulty, mem := inMem(t, small())
	for range 3 {
		put(t, l, keyed("a", "1"))
		roll(t, l)
	}
	closed := make(chan error, 1)
	hook(faulty, vfs.OpSync, "*.log.cleaned", func() {
		go func() { closed <- l.Close() }()
		time.Sleep(20 * time.Millisecond)
	})
	_, err := l.Compact(ctx, always())
	require.ErrorIs(t, err, log.ErrClosed)
	require.NoError(t, <-closed)
	for _, name := range names(t, mem, "log") {
		require.NotEqual(t, ".cleaned", filepath.Ext(name))
	}
	_, err = l.Compact(ctx, always())
	require.ErrorIs(t, err, log.ErrClosed)
}

func TestCompactCancelled(t *testing.T) {
	l, _, _ := inMem(t, small())
	put(t, l, keyed("a", "1"))
	roll(t, l)
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(errors.ErrUnsupported)
	_, err := l.Compact(ctx, always())
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// TestCompactViews: a View of a segment that was replaced stays good.
func TestCompactViews(t *testing.T) {
	l := open(t, t.TempDir(), small())
	put(t, l, keyed("a", "1"))
	roll(t, l)
	put(t, l, keyed("a", "2"))
	roll(t, l)
	v, err := l.Borrow(0, 1)
	require.NoError(t, err)
	before := string(v.Bytes())
	compacted(t, l, always())
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
	require.Positive(t, compacted(t, l, always()).Replaced)
	require.Equal(t, want, newestOf(t, l))
	_ = l.Close() // which cuts mapped files, and cannot
}

// TestCompactBesideCheckpoint: the seal of a segment that is replaced while it
// is computed is not taken for that of the new one.
func TestCompactBesideCheckpoint(t *testing.T) {
	o := small()
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
		compacted(t, l, always())
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
