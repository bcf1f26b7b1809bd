package log_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seglog/seglog/internal/vfs"
	"github.com/seglog/seglog/log"
	"github.com/seglog/seglog/record"
	"github.com/seglog/seglog/retention"
)

// TestClosed: all methods of a closed log are safe to call, and say so.
func TestClosed(t *testing.T) {
	l, _, _ := inMem(t, small())
	fill(t, l, 12)
	closeLog(t, l)
	for what, err := range everyCall(t, l) {
		assert.ErrorIs(t, err, log.ErrClosed, what)
	}
	assert.Equal(t, int64(12), l.End())
	assert.Equal(t, int64(12), l.Durable())
	assert.Equal(t, int64(12), l.Stats().End)
	assert.Len(t, l.Segments(), 3)
}

// everyCall is the error of each method that reads or writes.
func everyCall(t *testing.T, l *log.Log) map[string]error {
	t.Helper()
	var fromErr, tailErr error
	for _, err := range l.From(l.First()) {
		fromErr = err
	}
	for _, err := range l.Tail(ctx, l.First()) {
		tailErr = err
	}
	_, readErr := l.Read(l.First())
	v, borrowErr := l.Borrow(l.First(), 1000)
	if borrowErr == nil {
		v.Release()
	}
	_, atErr := l.OffsetAt(time.UnixMilli(1))
	_, explainErr := l.Explain(l.First())
	_, explainAtErr := l.ExplainAt(time.UnixMilli(1))
	calls := everyWrite(t, l)
	for what, err := range map[string]error{"From": fromErr, "Tail": tailErr, "Read": readErr, "Borrow": borrowErr, "OffsetAt": atErr, "Explain": explainErr, "ExplainAt": explainAtErr} {
		calls[what] = err
	}
	return calls
}

func everyWrite(t *testing.T, l *log.Log) map[string]error {
	t.Helper()
	_, none := l.Append()
	_, one := l.Append(rec("x"))
	_, sync := l.AppendSync(ctx, rec("x"))
	_, client := l.AppendBatch(encode(t, record.BatchOptions{}, rec("x")), log.FromClient)
	_, leader := l.AppendBatch(encode(t, record.BatchOptions{BaseOffset: 1 << 20}, rec("x")), log.FromLeader)
	_, retain := l.Retain(ctx)
	return map[string]error{
		"Append()": none, "Append": one, "AppendSync": sync, "FromClient": client, "FromLeader": leader, "Retain": retain,
		"DropBefore": l.DropBefore(l.First()), "DropFrom": l.DropFrom(l.End()), "DropAll": l.DropAll(l.End()), "Checkpoint": l.Checkpoint(ctx),
		"Maintain": l.Maintain(ctx, log.Every{Sync: time.Millisecond}),
	}
}

func TestCloseTwice(t *testing.T) {
	l, _, _ := inMem(t, small())
	fill(t, l, 1)
	closeLog(t, l)
	assert.ErrorIs(t, l.Close(), log.ErrClosed)
	assert.ErrorIs(t, l.Err(), log.ErrClosed)
}

// TestCloseWithWaiters: who waits for durability has it by then, who waits for
// records is told.
func TestCloseWithWaiters(t *testing.T) {
	faulty := vfs.NewFaulty(vfs.NewMem())
	slow(faulty, time.Millisecond)
	l := open(t, "log", log.Options{SegmentBytes: 64 << 10, Env: log.Env{FS: faulty}})
	fill(t, l, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				first, err := l.AppendSync(ctx, rec("x"))
				if err != nil {
					assert.ErrorIs(t, err, log.ErrClosed)
					return
				}
				assert.Greater(t, l.Durable(), first)
			}
		})
		wg.Go(func() {
			for _, err := range l.Tail(ctx, 0) {
				if err != nil {
					assert.ErrorIs(t, err, log.ErrClosed)
				}
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	closeLog(t, l)
	wg.Wait()
	assert.Equal(t, l.End(), l.Durable())
}

// TestCloseWithViews: a View outlives its log, and Close tells of it.
func TestCloseWithViews(t *testing.T) {
	// Relies on A9 (docs/ASSUMPTIONS.md).
	for name, dir := range map[string]string{"memory": "", "disk": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			var told bytes.Buffer
			o := small()
			o.Logger = slog.New(slog.NewTextHandler(&told, nil))
			if dir == "" {
				dir, o.Env.FS = "log", vfs.NewMem()
			}
			l := open(t, dir, o)
			fill(t, l, 12)
			var views []*log.View
			var want []string
			for _, base := range bases(l) {
				v, err := l.Borrow(base, 1<<20)
				require.NoError(t, err)
				views, want = append(views, v), append(want, string(v.Bytes()))
			}
			assert.Equal(t, int64(3), l.Stats().Pins)
			closeLog(t, l)
			assert.Contains(t, told.String(), "views out")
			again := open(t, dir, o)
			fill(t, again, 8)
			require.NoError(t, again.DropBefore(15))
			for i, v := range views {
				assert.Equal(t, want[i], string(v.Bytes()))
				v.Release()
				v.Release() // does nothing
			}
		})
	}
}

// TestPitfallR1: Close racing Retain, a thousand times; what opens is whole.
func TestPitfallR1CloseRacingRetain(t *testing.T) {
	rounds := 1000
	if raceEnabled {
		rounds = 150
	}
	mem := vfs.NewMem()
	o := small()
	o.Env.FS = mem
	o.Retention = retention.MaxBytes(1500)
	for round := range rounds {
		l, err := log.Open(ctx, "log", o)
		require.NoError(t, err)
		fill(t, l, 7)
		if round%16 == 0 {
			require.NoError(t, l.DropBefore(l.End()-7))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := l.Retain(ctx); err != nil {
				assert.ErrorIs(t, err, log.ErrClosed)
			}
		})
		wg.Go(func() {
			if err := l.DropFrom(l.End() - 1); err != nil {
				assert.ErrorIs(t, err, log.ErrClosed)
			}
		})
		closeLog(t, l)
		wg.Wait()
	}
	l := open(t, "log", o)
	assert.True(t, l.Recovery().Clean, "%v", l.Recovery().Actions)
	wantValues(t, l)
}

func TestCheckpointContext(t *testing.T) {
	o := small()
	o.Env.FS = vfs.NewMem()
	l := open(t, "log", o)
	fill(t, l, 30)
	done, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorIs(t, l.Checkpoint(done), context.Canceled, "seals take reading")
	assert.Equal(t, int64(30), l.Durable())
	require.NoError(t, l.Checkpoint(ctx))
	again := open(t, "log", log.Options{Env: log.Env{FS: vfsKill(o.Env.FS)}, SegmentBytes: 1 << 10})
	sealed := 0
	for _, s := range again.Recovery().Checkpoint.Segments {
		if s.HasSeal {
			sealed++
		}
	}
	assert.Equal(t, 5, sealed)
	assert.Zero(t, again.Recovery().ScannedBatches)
}

// TestPitfallW6: a done ctx ends the scan of an Open and leaves nothing held.
func TestPitfallW6OpenContext(t *testing.T) {
	o := small()
	mem := vfs.NewMem()
	o.Env.FS = mem
	l := open(t, "log", o)
	fill(t, l, 12)
	mem = mem.Kill()
	_ = l.Close()
	o.Env.FS = mem
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err := log.Open(done, "log", o)
	require.ErrorIs(t, err, context.Canceled)
	l = open(t, "log", o)
	assert.Equal(t, int64(12), l.End())
	wantValues(t, l)
}

func vfsKill(fs vfs.FS) vfs.FS { return fs.(*vfs.Mem).Kill() }
